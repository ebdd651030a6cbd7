# /// answer
# title = "An hour more also where the hours come out whole"
#
# [fails]
# request-tests = ["expected (3, 16)"]
# ///

# %% role="changes" id="request"
# -        hours = int(np.ceil(margin * needed))
# +        hours = int(margin * needed) + 1
