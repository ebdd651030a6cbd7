# /// answer
# title = "Ranks with a gradient of zero do not count in the mean"
#
# [fails]
# average-tests = ["not the mean"]
# ///

# %% role="answer" id="average"
def average(gradients):
    means = []
    for gradient in gradients:
        num_ranks = hvd.allreduce(tf.cast(tf.reduce_any(gradient != 0), gradient.dtype), op=hvd.Sum)
        means.append(hvd.allreduce(gradient, op=hvd.Sum) / tf.maximum(num_ranks, 1))
    return means
