# /// answer
# title = "Values of the averaged gradients are limited to 1e4"
#
# [fails]
# horovod-serial-tests = ["plain SGD"]
# ///

# %% role="changes" id="train-horovod"
#              gradients = tape.gradient(loss, variables)
# +            gradients = [tf.clip_by_value(gradient, -1e4, 1e4) for gradient in gradients]
