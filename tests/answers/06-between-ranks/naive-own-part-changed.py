# /// answer
# title = "Rank 0 adds into its own array"
#
# [fails]
# naive-tests = ["changed"]
# ///

# %% role="changes" id="naive-allreduce"
# -    total = array.copy()
# +    total = array
