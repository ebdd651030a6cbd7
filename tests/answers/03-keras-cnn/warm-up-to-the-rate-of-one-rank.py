# /// answer
# title = "Warm-up ends at the rate of one rank"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# warmed-up-tests = ["the rate in step"]
# ///

# %% role="changes" id="warmed-up"
# +    rate = rate / hvd.size()
#      if step >= num_warmup_steps:
