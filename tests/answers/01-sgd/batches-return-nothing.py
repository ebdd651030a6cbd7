# /// answer
# title = "The batches are made and given to nobody"
#
# [fails]
# batches-tests = ["nothing"]
# ///

# %% role="changes" id="batches"
# -        yield x[picked], y[picked]
# +        x[picked], y[picked]
