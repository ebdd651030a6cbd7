# /// answer
# title = "Every rank uses as many samples as the rank with the fewest"
#
# [fails]
# horovod-shards-tests = ["not complete"]
# horovod-serial-tests = ["not complete"]
# ///

# %% role="changes" id="train-horovod"
#      x, y = shard(x, y)
# +    num_mine = int(hvd.allreduce(tf.constant(len(x)), op=hvd.Min))
# +    x, y = x[:num_mine], y[:num_mine]
