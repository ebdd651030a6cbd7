# /// answer
# title = "The sum over all ranks"
#
# [fails]
# mean-tests = ["the sum over the ranks"]
# ///

# %% role="changes" id="mean-gradients"
# -    means = [hvd.allreduce(tf.cast(one, tf.float32), op=hvd.Average) / scale for one in gradients]
# +    means = [hvd.allreduce(tf.cast(one, tf.float32), op=hvd.Sum) / scale for one in gradients]
