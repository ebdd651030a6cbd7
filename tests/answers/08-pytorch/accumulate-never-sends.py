# /// answer
# title = "The last batch is inside of no_sync, too: nothing is averaged over the ranks"
#
# [fails]
# accumulated-tests = ["the rank's own"]
# exchanges-tests = ["number of exchanges"]
# ///

# %% role="changes" id="accumulate"
# -        with model.no_sync() if number < len(batches) else contextlib.nullcontext():
# +        with model.no_sync():
