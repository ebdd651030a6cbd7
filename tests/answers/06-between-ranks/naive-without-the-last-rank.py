# /// answer
# title = "The last rank is forgotten"
#
# [fails]
# naive-tests = ["rank 3"]
# ///

# %% role="changes" id="naive-allreduce"
# -    others = range(1, channel.num_ranks)
# +    others = range(1, channel.num_ranks - 1)
