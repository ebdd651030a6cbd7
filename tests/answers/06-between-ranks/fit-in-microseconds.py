# /// answer
# title = "The latency in microseconds"
#
# [fails]
# fit-tests = ["1e+06 times too large"]
# ///

# %% role="changes" id="fit-cost"
# -    return alpha, beta
# +    return 1e6 * alpha, beta
