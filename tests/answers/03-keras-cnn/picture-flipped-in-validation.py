# /// answer
# title = "Flipped at random for validation, too"
#
# [fails]
# load-picture-tests = ["mirrored", "training"]
# ///

# %% role="changes" id="load-picture"
# -    if training:
# -        picture = tf.image.random_flip_left_right(picture)
# +    picture = tf.image.random_flip_left_right(picture)
