# /// answer
# title = "The loss after the steps is returned in place of a verdict"
#
# [fails]
# is-stable-tests = ["True or False"]
# ///

# %% role="changes" id="is-stable"
# -    return bool(loss(*point, x, y) <= loss(0.5, 0.8, x, y))
# +    return loss(*point, x, y)
