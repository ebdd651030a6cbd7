# /// answer
# title = "Every rank trains alone, and the histories are averaged"
#
# [fails]
# keras-average-tests = ["not averaged"]
# ///

# %% role="changes" id="train-keras"
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))

# -    return np.array(trajectory.history)
# +    return hvd.allreduce(np.array(trajectory.history)).numpy()
