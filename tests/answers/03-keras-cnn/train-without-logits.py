# /// answer
# title = "The loss takes logits for probabilities"
#
# [fails]
# train-tests = ["from_logits=True"]
# continued-tests = ["from_logits=True"]
# ///

# %% role="changes" id="train"
# -        tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
# +        tf.keras.losses.SparseCategoricalCrossentropy(),
