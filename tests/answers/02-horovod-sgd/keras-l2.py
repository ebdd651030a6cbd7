# /// answer
# title = "The layer has an l2 regularizer"
#
# [fails]
# keras-rate-tests = ["0.02 times the slope"]
# ///

# %% role="changes" id="train-keras"
# -    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
# +    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,), kernel_regularizer="l2")])
