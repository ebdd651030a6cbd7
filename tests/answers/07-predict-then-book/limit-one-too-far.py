# /// answer
# title = "The first number whose doubling did not pay"
#
# [fails]
# limit-tests = ["after the doubling that did not pay"]
# ///

# %% role="changes" id="strong-limit"
# -        if after < min_gain * before:
# -            break
# -        limit = larger
# +        limit = larger
# +        if after < min_gain * before:
# +            break
