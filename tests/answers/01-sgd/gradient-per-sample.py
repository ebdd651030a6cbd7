# /// answer
# title = "The mean is forgotten, so the derivatives are arrays"
#
# [fails]
# gradient-tests = ["two numbers"]
# ///

# %% role="changes" id="gradient"
# -    return np.mean(2 * errors * x), np.mean(2 * errors)
# +    return 2 * errors * x, 2 * errors
