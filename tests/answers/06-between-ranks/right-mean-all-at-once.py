# /// answer
# title = "One grouped allreduce, one look"
# ///

# %% role="answer" id="mean-gradients"
def mean_gradients(gradients, scale):
    in_32_bits = [tf.cast(one, tf.float32) / scale for one in gradients]
    means = hvd.grouped_allreduce(in_32_bits)
    finite = tf.concat([tf.reshape(tf.math.is_finite(mean), [-1]) for mean in means], axis=0)
    return means if tf.reduce_all(finite) else None
