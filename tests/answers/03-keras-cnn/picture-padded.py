# /// answer
# title = "The window keeps its shape, and black edges fill the square"
# consequences = ["shards-tests", "order-tests", "train-tests", "continued-tests"]
#
# [fails]
# load-picture-tests = ["black edges"]
# ///

# %% role="changes" id="load-picture"
# -    picture = tf.image.resize(picture, (image_size, image_size))
# +    picture = tf.image.resize_with_pad(picture, image_size, image_size)
