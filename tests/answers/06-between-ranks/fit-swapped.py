# /// answer
# title = "Beta first"
#
# [fails]
# fit-tests = ["alpha comes first"]
# ///

# %% role="changes" id="fit-cost"
# -    return alpha, beta
# +    return beta, alpha
