# /// answer
# title = "Warm-up begins with the rate divided by the notebook's num_ranks"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# warmed-up-tests = ["rate in step"]
# ///

# %% role="changes" id="warmed-up"
# -    start = rate / hvd.size()
# +    start = rate / num_ranks
