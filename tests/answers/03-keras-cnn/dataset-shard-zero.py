# /// answer
# title = "The arguments of shard are fixed: every rank takes the first share"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# shards-tests = ["disjoint"]
# ///

# %% role="changes" id="make-dataset"
# -    files = files[hvd.rank() :: hvd.size()]
#      dataset = tf.data.Dataset.from_tensor_slices(files)
# +    dataset = dataset.shard(hvd.size(), 0)
