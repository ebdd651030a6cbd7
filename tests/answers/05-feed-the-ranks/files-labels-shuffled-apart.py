# /// answer
# title = "Images and labels shuffled each for itself, and zipped again"
#
# [fails]
# files-tests = ["belong together"]
# interleave-tests = ["belong together"]
# ///

# %% role="changes" id="from-files"
# -    return batches.prefetch(tf.data.AUTOTUNE)
# +    images = batches.map(lambda image, label: image).unbatch()
# +    labels = batches.map(lambda image, label: label).unbatch().shuffle(100)
# +    return tf.data.Dataset.zip((images, labels)).batch(batch_size)
