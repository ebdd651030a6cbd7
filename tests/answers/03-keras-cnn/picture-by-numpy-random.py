# /// answer
# title = "Mirrored by NumPy's coin, which a data set throws once for all images"
#
# [fails]
# load-picture-tests = ["mirrored"]
# ///

# %% role="changes" id="load-picture"
# -    if training:
# -        picture = tf.image.random_flip_left_right(picture)
# +    if training and np.random.rand() < 0.5:
# +        picture = picture[:, ::-1]
