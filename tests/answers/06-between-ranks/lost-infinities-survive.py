# /// answer
# title = "What becomes infinite is not counted"
#
# [fails]
# lost-tests = ["share lost"]
# ///

# %% role="changes" id="lost-share"
# -    is_lost = (halves == 0) | np.isinf(halves)
# +    is_lost = halves == 0
