# /// answer
# title = "Pixels as they were written, not divided"
# consequences = ["files-tests", "interleave-tests"]
#
# [fails]
# parse-tests = ["255"]
# ///

# %% role="changes" id="parse-batch"
# -    return tf.cast(pixels, tf.float32) / 255, found["label"]
# +    return tf.cast(pixels, tf.float32), found["label"]
