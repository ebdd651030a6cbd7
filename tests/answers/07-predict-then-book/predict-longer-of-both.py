# /// answer
# title = "Whichever is longer: as if all communication were hidden"
#
# [fails]
# predict-tests = ["seconds of a step"]
# ///

# %% role="changes" id="predict-step"
# -    step_s = alone_s + allreduce_s(num_ranks, num_bytes, alpha, beta)
# +    step_s = max(alone_s, allreduce_s(num_ranks, num_bytes, alpha, beta))
