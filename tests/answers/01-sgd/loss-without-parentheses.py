# /// answer
# title = "The parentheses after mean are forgotten"
#
# [fails]
# loss-tests = ["parentheses"]
# is-stable-tests = []
# ///

# %% role="changes" id="loss"
# -    return np.mean(errors**2)
# +    return (errors**2).mean
