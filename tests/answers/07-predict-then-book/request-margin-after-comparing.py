# /// answer
# title = "Compares the time without the margin with the limit"
#
# [fails]
# request-tests = ["expected"]
# ///

# %% role="changes" id="request"
# -        if hours <= max_hours:
# +        if needed <= max_hours:
