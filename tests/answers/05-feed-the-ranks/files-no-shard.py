# /// answer
# title = "Every rank reads all files"
#
# [fails]
# files-tests = ["no shard"]
# ///

# %% role="changes" id="from-files"
# -    mine = tf.data.Dataset.from_tensor_slices(files[hvd.rank() :: hvd.size()])
# +    mine = tf.data.Dataset.from_tensor_slices(files)
