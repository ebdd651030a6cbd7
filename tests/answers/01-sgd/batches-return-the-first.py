# /// answer
# title = "return in place of yield: the first batch, and no other"
#
# [fails]
# batches-tests = ["pair"]
# ///

# %% role="changes" id="batches"
# -        yield x[picked], y[picked]
# +        return x[picked], y[picked]
