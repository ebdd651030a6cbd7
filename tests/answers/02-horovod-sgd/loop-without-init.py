# /// answer
# title = "Horovod is never initialised"
#
# [fails]
# horovod-start-tests = ["initialized"]
# horovod-average-tests = []
# horovod-shards-tests = []
# horovod-rate-tests = []
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -    hvd.init()
