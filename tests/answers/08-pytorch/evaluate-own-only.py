# /// answer
# title = "Each rank returns what its own share gives"
#
# [fails]
# evaluate-tests = ["own samples"]
# ///

# %% role="changes" id="evaluate"
# -    dist.all_reduce(sums)
