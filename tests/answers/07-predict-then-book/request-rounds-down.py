# /// answer
# title = "Rounds hours down"
#
# [fails]
# request-tests = ["expected"]
# ///

# %% role="changes" id="request"
# -        hours = int(np.ceil(margin * needed))
# +        hours = int(margin * needed)
