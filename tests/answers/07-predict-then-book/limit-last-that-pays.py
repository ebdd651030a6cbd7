# /// answer
# title = "The last doubling that pays, also after one that did not"
#
# [fails]
# limit-tests = ["after the doubling that did not pay"]
# ///

# %% role="changes" id="strong-limit"
# -        if after < min_gain * before:
# -            break
# -        limit = larger
# +        if after >= min_gain * before:
# +            limit = larger
