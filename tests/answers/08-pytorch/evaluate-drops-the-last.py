# /// answer
# title = "The last batch is left out"
#
# [fails]
# once-tests = ["not complete"]
# ///

# %% role="changes" id="evaluate"
# -        for x, y in DataLoader(share, batch_size):
# +        for x, y in DataLoader(share, batch_size, drop_last=True):
