# /// answer
# title = "An hour more also where the hours come out whole"
#
# [fails]
# request-tests = ["3 take 16 h"]
# ///

# %% role="changes" id="request"
# -        hours = int(np.ceil(margin * needed))
# +        hours = int(margin * needed) + 1
