# /// answer
# title = "Labels turned into floats along with the pixels"
# consequences = ["files-tests", "interleave-tests"]
#
# [fails]
# parse-tests = ["whole numbers"]
# ///

# %% role="changes" id="parse-batch"
# -    return tf.cast(pixels, tf.float32) / 255, found["label"]
# +    return tf.cast(pixels, tf.float32) / 255, tf.cast(found["label"], tf.float32)
