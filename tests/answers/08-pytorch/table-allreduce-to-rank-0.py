# /// answer
# title = "Rank 0 alone has the sum"
#
# [fails]
# table-tests = ["allreduce on rank"]
# ///

# %% role="changes" id="table"
# -    dist.all_reduce(x)
# +    dist.reduce(x, 0)
