# /// answer
# title = "No exchange at all: nobody waits, and the ranks drift apart"
#
# [fails]
# unequal-tests = ["apart"]
# ///

# %% role="changes" id="train-all"
# -    with model.join():
# +    with model.no_sync():
