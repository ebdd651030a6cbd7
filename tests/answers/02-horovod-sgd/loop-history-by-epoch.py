# /// answer
# title = "The place is written down once an epoch, not after every step"
#
# [fails]
# horovod-average-tests = ["a row for each epoch"]
# horovod-shards-tests = ["a row for each epoch"]
# horovod-rate-tests = ["a row for each epoch"]
# horovod-serial-tests = ["2 steps in each"]
# ///

# %% role="changes" id="train-horovod"
# -            history.append([float(slope.numpy()), float(offset.numpy())])
# +        history.append([float(slope.numpy()), float(offset.numpy())])
