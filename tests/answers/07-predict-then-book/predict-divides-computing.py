# /// answer
# title = "Strong scaling: computing is divided by the ranks"
#
# [fails]
# predict-tests = ["seconds of a step"]
# ///

# %% role="changes" id="predict-step"
# -    step_s = alone_s + allreduce_s(num_ranks, num_bytes, alpha, beta)
# +    step_s = alone_s / num_ranks + allreduce_s(num_ranks, num_bytes, alpha, beta)
