# /// answer
# title = "The return is forgotten"
#
# [fails]
# horovod-start-tests = ["returned None"]
# horovod-average-tests = []
# horovod-shards-tests = []
# horovod-rate-tests = []
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -    return np.array(history)
# +    np.array(history)
