# /// answer
# title = "The names are bound anew, the variables stay as they were"
#
# [fails]
# tape-step-tests = ["did not change"]
# ///

# %% role="answer" id="tape-step"
def tape_step(slope, offset, x, y, learning_rate):
    with tf.GradientTape() as tape:
        value = tf.reduce_mean((slope * x + offset - y) ** 2)
    gradients = tape.gradient(value, [slope, offset])
    slope = slope - learning_rate * gradients[0]
    offset = offset - learning_rate * gradients[1]
    return value
