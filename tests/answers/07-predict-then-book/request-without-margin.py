# /// answer
# title = "Asks for exactly the time that is needed"
#
# [fails]
# request-tests = ["expected"]
# ///

# %% role="changes" id="request"
# -        hours = int(np.ceil(margin * needed))
# +        hours = int(np.ceil(needed))
