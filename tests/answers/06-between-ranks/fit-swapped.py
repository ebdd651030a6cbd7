# /// answer
# title = "Beta first"
#
# [fails]
# fit-tests = ["alpha: expected"]
# ///

# %% role="changes" id="fit-cost"
# -    return alpha, beta
# +    return beta, alpha
