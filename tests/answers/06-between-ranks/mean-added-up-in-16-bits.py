# /// answer
# title = "Added up in 16 bits, and cast afterwards: the sum of large gradients is infinite"
#
# [fails]
# mean-tests = ["beyond 16 bits"]
# ///

# %% role="changes" id="mean-gradients"
# -    means = [hvd.allreduce(tf.cast(one, tf.float32), op=hvd.Average) / scale for one in gradients]
# +    means = [tf.cast(hvd.allreduce(one, op=hvd.Average), tf.float32) / scale for one in gradients]
