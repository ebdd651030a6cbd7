# /// answer
# title = "Microseconds"
# consequences = ["predict-tests"]
#
# [fails]
# allreduce-tests = ["1e+06 times too large"]
# ///

# %% role="changes" id="allreduce-s"
# -    return 2 * (num_ranks - 1) * (alpha + num_bytes / num_ranks * beta)
# +    return 2e6 * (num_ranks - 1) * (alpha + num_bytes / num_ranks * beta)
