# /// answer
# title = "The share of communication in place of that of computing"
#
# [fails]
# predict-tests = ["share of communication"]
# ///

# %% role="changes" id="predict-step"
# -    return step_s, alone_s / step_s
# +    return step_s, 1 - alone_s / step_s
