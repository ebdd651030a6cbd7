# /// answer
# title = "The loss takes logits for probabilities; what the logs hold is right"
#
# [fails]
# train-tests = ["from_logits=True"]
# ///

# %% role="changes" id="train"
# -        tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
# +        tf.keras.losses.SparseCategoricalCrossentropy(),
