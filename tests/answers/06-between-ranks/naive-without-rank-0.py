# /// answer
# title = "Rank 0 leaves out its own part"
#
# [fails]
# naive-tests = ["not the sum over all ranks"]
# ///

# %% role="changes" id="naive-allreduce"
# -    total = array.copy()
# +    total = np.zeros_like(array)
