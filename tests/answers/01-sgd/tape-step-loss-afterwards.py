# /// answer
# title = "The loss after the update is returned"
# verdict = "wrong"
#
# [fails]
# tape-step-tests = ["before the update"]
# ///

# %% role="answer" id="tape-step"
def tape_step(slope, offset, x, y, learning_rate):
    with tf.GradientTape() as tape:
        value = tf.reduce_mean((slope * x + offset - y) ** 2)
    d_slope, d_offset = tape.gradient(value, [slope, offset])
    slope.assign_sub(learning_rate * d_slope)
    offset.assign_sub(learning_rate * d_offset)
    return tf.reduce_mean((slope * x + offset - y) ** 2)
