# /// answer
# title = "The bandwidth in place of the seconds for each byte"
#
# [fails]
# fit-tests = ["which is 1/beta"]
# ///

# %% role="changes" id="fit-cost"
# -    return alpha, beta
# +    return alpha, 1 / beta
