# /// answer
# title = "TensorFlow everywhere, also where NumPy would do"
# ///

# %% role="answer" id="loss"
import tensorflow as tf


def loss(slope, offset, x, y):
    return tf.reduce_mean(tf.square(slope * x + offset - y))


# %% role="answer" id="gradient"
def gradient(slope, offset, x, y):
    slope, offset = tf.constant(slope, tf.float64), tf.constant(offset, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch([slope, offset])
        value = loss(slope, offset, x, y)
    return tape.gradient(value, [slope, offset])


# %% role="answer" id="hessian"
def hessian(x):
    mean = tf.reduce_mean(x)
    return 2 * tf.stack([[tf.reduce_mean(x * x), mean], [mean, tf.ones_like(mean)]])
