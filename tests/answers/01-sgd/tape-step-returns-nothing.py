# /// answer
# title = "The loss is not returned"
#
# [fails]
# tape-step-tests = ["return the loss"]
# ///

# %% role="answer" id="tape-step"
def tape_step(slope, offset, x, y, learning_rate):
    with tf.GradientTape() as tape:
        value = tf.reduce_mean((slope * x + offset - y) ** 2)
    for variable, gradient_ in zip((slope, offset), tape.gradient(value, (slope, offset))):
        variable.assign_sub(learning_rate * gradient_)
