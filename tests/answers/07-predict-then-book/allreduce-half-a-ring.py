# /// answer
# title = "The reduce-scatter alone"
# consequences = ["predict-tests"]
#
# [fails]
# allreduce-tests = ["one half of the ring"]
# ///

# %% role="changes" id="allreduce-s"
# -    return 2 * (num_ranks - 1) * (alpha + num_bytes / num_ranks * beta)
# +    return (num_ranks - 1) * (alpha + num_bytes / num_ranks * beta)
