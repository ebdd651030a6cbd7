# /// answer
# title = "Width before height: the images are mirrored at their diagonal"
# consequences = ["files-tests", "interleave-tests"]
#
# [fails]
# parse-tests = ["the pixel of image"]
# ///

# %% role="changes" id="parse-batch"
# -    return tf.cast(pixels, tf.float32) / 255, found["label"]
# +    return tf.transpose(tf.cast(pixels, tf.float32), (0, 2, 1)) / 255, found["label"]
