# /// answer
# title = "The share by local rank: right on one node"
#
# [fails]
# files-tests = ["disjoint"]
# ///

# %% role="changes" id="from-files"
# -    mine = tf.data.Dataset.from_tensor_slices(files[hvd.rank() :: hvd.size()])
# +    mine = tf.data.Dataset.from_tensor_slices(files[hvd.local_rank() :: hvd.local_size()])
