# %% parse-0-to-255
# title = "Pixels as they were written, not divided"
# fails.parse-tests = ["images.not-scaled"]
# consequences = ["files-tests", "interleave-tests"]
# -    return tf.cast(pixels, tf.float32) / 255, found["label"]
# +    return tf.cast(pixels, tf.float32), found["label"]

# %% parse-as-floats
# title = "Four bytes are read as one number: TensorFlow's complaint about the shape is the answer's"
# fails.parse-tests = ["answer.raised"]
# consequences = ["files-tests", "interleave-tests"]
# -    pixels = tf.reshape(tf.io.decode_raw(found["image"], tf.uint8), (-1, 28, 28))
# +    pixels = tf.reshape(tf.io.decode_raw(found["image"], tf.float32), (-1, 28, 28))

# %% parse-labels-as-floats
# title = "Labels turned into floats along with the pixels"
# fails.parse-tests = ["labels.not-whole"]
# consequences = ["files-tests", "interleave-tests"]
# -    return tf.cast(pixels, tf.float32) / 255, found["label"]
# +    return tf.cast(pixels, tf.float32) / 255, tf.cast(found["label"], tf.float32)

# %% parse-transposed
# title = "Width before height: the images are mirrored at their diagonal"
# fails.parse-tests = ["images.wrong-pixels"]
# consequences = ["files-tests", "interleave-tests"]
# -    return tf.cast(pixels, tf.float32) / 255, found["label"]
# +    return tf.transpose(tf.cast(pixels, tf.float32), (0, 2, 1)) / 255, found["label"]
