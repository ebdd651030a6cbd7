# /// answer
# title = "The whole image for validation, squeezed into a square"
#
# [fails]
# load-picture-tests = ["the whole image", "squeezed"]
# ///

# %% role="changes" id="load-picture"
# -    window = random_window(encoded) if training else central_window(encoded)
# -    picture = tf.io.decode_and_crop_jpeg(encoded, window, channels=3)
# +    if training:
# +        picture = tf.io.decode_and_crop_jpeg(encoded, random_window(encoded), channels=3)
# +    else:
# +        picture = tf.io.decode_jpeg(encoded, channels=3)
