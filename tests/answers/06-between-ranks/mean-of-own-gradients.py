# /// answer
# title = "Not averaged"
#
# [fails]
# mean-tests = ["not the mean over the ranks"]
# ///

# %% role="changes" id="mean-gradients"
# -    means = [hvd.allreduce(tf.cast(one, tf.float32), op=hvd.Average) / scale for one in gradients]
# +    means = [tf.cast(one, tf.float32) / scale for one in gradients]
