# /// answer
# title = "All samples are drawn, and the share is taken behind the generator"
#
# [fails]
# drawn-tests = ["draws"]
# ///

# %% role="changes" id="from-generator"
# -        for number in range(hvd.rank(), num_samples, hvd.size()):
# +        for number in range(num_samples):

# -    return tf.data.Dataset.from_generator(mine, output_signature=signature)
# +    return tf.data.Dataset.from_generator(mine, output_signature=signature).shard(hvd.size(), hvd.rank())
