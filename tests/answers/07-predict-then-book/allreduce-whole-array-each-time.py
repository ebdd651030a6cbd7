# /// answer
# title = "Each message is the whole array"
# consequences = ["predict-tests"]
#
# [fails]
# allreduce-tests = ["N-th part"]
# ///

# %% role="changes" id="allreduce-s"
# -    return 2 * (num_ranks - 1) * (alpha + num_bytes / num_ranks * beta)
# +    return 2 * (num_ranks - 1) * (alpha + num_bytes * beta)
