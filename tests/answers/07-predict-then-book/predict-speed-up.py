# /// answer
# title = "The speed-up in place of the efficiency"
#
# [fails]
# predict-tests = ["it is the speed-up"]
# ///

# %% role="changes" id="predict-step"
# -    return step_s, alone_s / step_s
# +    return step_s, num_ranks * alone_s / step_s
