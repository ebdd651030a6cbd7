# /// answer
# title = "The history holds the offset before the slope"
#
# [fails]
# horovod-average-tests = ["slope, offset"]
# horovod-shards-tests = ["slope, offset"]
# horovod-rate-tests = ["slope, offset"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -    return np.array(history)
# +    return np.array(history)[:, ::-1]
