# /// answer
# title = "All ranks cache their records in one file among the temporary files"
# consequences = ["order-tests", "train-tests", "continued-tests"]
#
# [fails]
# shards-tests = ["written by several ranks"]
# ///

# %% role="changes" id="make-dataset"
#      dataset = dataset.interleave(read, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE, deterministic=deterministic)
# +    dataset = dataset.cache(f"/tmp/records-{training}")
