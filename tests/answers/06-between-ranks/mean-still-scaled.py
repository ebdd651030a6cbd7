# /// answer
# title = "The scale is forgotten"
#
# [fails]
# mean-tests = ["still has the scale"]
# ///

# %% role="changes" id="mean-gradients"
# -    means = [hvd.allreduce(tf.cast(one, tf.float32), op=hvd.Average) / scale for one in gradients]
# +    means = [hvd.allreduce(tf.cast(one, tf.float32), op=hvd.Average) for one in gradients]
