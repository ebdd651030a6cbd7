# /// answer
# title = "Bytes read as numbers from -128 to 127: bright pixels become negative"
# consequences = ["files-tests", "interleave-tests"]
#
# [fails]
# parse-tests = ["the pixel of image"]
# ///

# %% role="changes" id="parse-batch"
# -    pixels = tf.reshape(tf.io.decode_raw(found["image"], tf.uint8), (-1, 28, 28))
# +    pixels = tf.reshape(tf.io.decode_raw(found["image"], tf.int8), (-1, 28, 28))
