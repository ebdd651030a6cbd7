# /// answer
# title = "The sum is sent in 64 bits: twice the bytes"
#
# [fails]
# naive-tests = ["type of the numbers in a message of rank 0"]
# ///

# %% role="changes" id="naive-allreduce"
# -    total = array.copy()
# +    total = array.astype(np.float64)
