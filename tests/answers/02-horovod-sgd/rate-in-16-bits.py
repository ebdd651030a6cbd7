# /// answer
# title = "The rate becomes a number of 16 bits"
# consequences = ["horovod-serial-tests", "keras-rate-tests"]
#
# [fails]
# scale-rate-tests = ["expected"]
# ///

# %% role="answer" id="scale-rate"
def scale_rate(learning_rate):
    return float(tf.constant(learning_rate, tf.float16)) * hvd.size()
