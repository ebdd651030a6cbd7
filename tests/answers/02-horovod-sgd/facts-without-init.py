# /// answer
# title = "Horovod is not initialised"
#
# [fails]
# rank-facts-tests = ["initialized"]
# ///

# %% role="changes" id="rank-facts"
# -    hvd.init()
