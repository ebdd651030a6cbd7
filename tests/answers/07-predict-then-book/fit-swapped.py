# /// answer
# title = "Beta first"
#
# [fails]
# fit-tests = ["alpha comes first"]
# ///

# %% role="changes" id="fit-link"
# -    return alpha, beta
# +    return beta, alpha
