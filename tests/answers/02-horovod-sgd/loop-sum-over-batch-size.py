# /// answer
# title = "The loss is a sum divided by batch_size, also in the smaller last batch"
#
# [fails]
# horovod-serial-tests = ["divided by the size of full batches"]
# ///

# %% role="changes" id="train-horovod"
# -                loss = tf.reduce_mean((slope * x[batch] + offset - y[batch]) ** 2)
# +                loss = tf.reduce_sum((slope * x[batch] + offset - y[batch]) ** 2) / batch_size
