# /// answer
# title = "The formula for two ranks, which the notebook has"
# consequences = ["predict-tests"]
#
# [fails]
# allreduce-tests = ["1 rank, "]
# ///

# %% role="changes" id="allreduce-s"
# -    return 2 * (num_ranks - 1) * (alpha + num_bytes / num_ranks * beta)
# +    return 2 * alpha + num_bytes * beta
