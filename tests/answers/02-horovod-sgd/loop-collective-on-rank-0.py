# /// answer
# title = "Rank 0 alone averages once more, and the others are already in the next step"
#
# [fails]
# horovod-start-tests = ["collective"]
# horovod-average-tests = []
# horovod-shards-tests = []
# horovod-rate-tests = []
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
#              history.append([float(slope.numpy()), float(offset.numpy())])
# +    if hvd.rank() == 0:
# +        hvd.allreduce(slope)
# +    else:
# +        import time
# +        time.sleep(1000)
