# /// answer
# title = "Exchange with the first batch: the later ones stay with their rank"
#
# [fails]
# accumulated-tests = ["exchange with the last"]
# ///

# %% role="changes" id="accumulate"
# -        with model.no_sync() if number < len(batches) else contextlib.nullcontext():
# +        with model.no_sync() if number > 1 else contextlib.nullcontext():
