# /// answer
# title = "The GPU is pinned when the network is built already"
#
# [fails]
# train-tests = ["pin its GPU before"]
# ///

# %% role="changes" id="train"
# -    pin_gpu()
# -    network = build()
# +    network = build()
# +    pin_gpu()
