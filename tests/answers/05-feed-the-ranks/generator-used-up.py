# /// answer
# title = "A generator that has begun: the second epoch is empty"
#
# [fails]
# generator-tests = ["in the second"]
# ///

# %% role="changes" id="from-generator"
# -    return tf.data.Dataset.from_generator(mine, output_signature=signature)
# +    samples = mine()
# +    return tf.data.Dataset.from_generator(lambda: samples, output_signature=signature)
