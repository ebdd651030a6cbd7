# /// answer
# title = "The scale is taken off in 16 bits"
#
# [fails]
# mean-tests = ["bits are lost"]
# ///

# %% role="changes" id="mean-gradients"
# -    means = [hvd.allreduce(tf.cast(one, tf.float32), op=hvd.Average) / scale for one in gradients]
# +    means = [tf.cast(hvd.allreduce(one, op=hvd.Average) / tf.cast(scale / 2, tf.float16) / 2, tf.float32) for one in gradients]
