# /// answer
# title = "Types without shapes: a network cannot be built from these"
#
# [fails]
# generator-tests = ["the shape of an image"]
# ///

# %% role="changes" id="from-generator"
# -    return tf.data.Dataset.from_generator(mine, output_signature=signature)
# +    return tf.data.Dataset.from_generator(mine, output_types=(tf.float32, tf.int64))
