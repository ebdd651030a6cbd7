# /// answer
# title = "As many files for each rank, and those that are left over for nobody"
#
# [fails]
# files-tests = ["not complete"]
# ///

# %% role="changes" id="from-files"
# -    mine = tf.data.Dataset.from_tensor_slices(files[hvd.rank() :: hvd.size()])
# +    num_each = len(files) // hvd.size()
# +    mine = tf.data.Dataset.from_tensor_slices(files[hvd.rank() * num_each : (hvd.rank() + 1) * num_each])
