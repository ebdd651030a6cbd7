# /// answer
# title = "Four bytes are read as one number: TensorFlow's complaint about the shape is the answer's"
# consequences = ["files-tests", "interleave-tests"]
#
# [fails]
# parse-tests = ["the answer raised InvalidArgumentError", "multiple of 784"]
# ///

# %% role="changes" id="parse-batch"
# -    pixels = tf.reshape(tf.io.decode_raw(found["image"], tf.uint8), (-1, 28, 28))
# +    pixels = tf.reshape(tf.io.decode_raw(found["image"], tf.float32), (-1, 28, 28))
