# /// answer
# title = "Rank 0 alone averages once more, and the others gather what they have found already"
#
# [fails]
# horovod-start-tests = ["waits in hvd.allreduce"]
# horovod-average-tests = []
# horovod-shards-tests = []
# horovod-rate-tests = []
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
#              history.append([float(slope.numpy()), float(offset.numpy())])
# +    if hvd.rank() == 0:
# +        print("slope:", hvd.allreduce(slope))
# +    hvd.allgather(tf.constant(history))
