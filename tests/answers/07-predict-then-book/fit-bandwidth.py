# /// answer
# title = "The bandwidth in place of its inverse"
#
# [fails]
# fit-tests = ["which is 1/beta"]
# ///

# %% role="changes" id="fit-link"
# -    return alpha, beta
# +    return alpha, 1 / beta
