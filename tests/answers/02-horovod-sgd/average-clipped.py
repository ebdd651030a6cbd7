# /// answer
# title = "Means are limited to 100, against explosions"
#
# [fails]
# average-tests = ["not the mean"]
# ///

# %% role="answer" id="average"
def average(gradients):
    return [tf.clip_by_value(hvd.allreduce(gradient, op=hvd.Average), -100.0, 100.0) for gradient in gradients]
