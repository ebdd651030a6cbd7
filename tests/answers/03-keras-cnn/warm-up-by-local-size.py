# /// answer
# title = "Warm-up begins with the rate divided by the ranks of this node"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# warmed-up-tests = ["rate in step"]
# ///

# %% role="changes" id="warmed-up"
# -    start = rate / hvd.size()
# +    start = rate / hvd.local_size()
