# /// answer
# title = "What is below the smallest normal number counts as lost"
#
# [fails]
# lost-tests = ["share lost"]
# ///

# %% role="changes" id="lost-share"
# -    is_lost = (halves == 0) | np.isinf(halves)
# +    is_lost = (np.abs(halves) < 6.1e-5) | np.isinf(halves)
