# /// answer
# title = "The batches are made and given to nobody"
#
# [fails]
# batches-tests = ["returned None"]
# ///

# %% role="changes" id="batches"
# -        yield x[picked], y[picked]
# +        x[picked], y[picked]
