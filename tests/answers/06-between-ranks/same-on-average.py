# /// answer
# title = "The mean of all places: one wrong number is lost in it"
#
# [fails]
# same-tests = ["expected “not the same”"]
# ///

# %% role="changes" id="same-sum"
# -    return bool(np.all(np.abs(first - second) <= bound))
# +    return bool(np.mean(np.abs(first - second)) <= np.mean(bound))
