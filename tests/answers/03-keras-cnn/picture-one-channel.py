# /// answer
# title = "The first channel stands for all three"
# consequences = ["shards-tests", "order-tests", "train-tests", "continued-tests"]
#
# [fails]
# load-picture-tests = ["colours", "three channels"]
# ///

# %% role="changes" id="load-picture"
# -    picture = tf.image.resize(picture, (image_size, image_size))
# +    picture = tf.image.resize(tf.repeat(picture[..., :1], 3, axis=-1), (image_size, image_size))
