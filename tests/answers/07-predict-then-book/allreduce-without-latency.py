# /// answer
# title = "Only the bytes cost something"
# consequences = ["predict-tests"]
#
# [fails]
# allreduce-tests = ["latency is missing"]
# ///

# %% role="changes" id="allreduce-s"
# -    return 2 * (num_ranks - 1) * (alpha + num_bytes / num_ranks * beta)
# +    return 2 * (num_ranks - 1) / num_ranks * num_bytes * beta
