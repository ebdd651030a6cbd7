# /// answer
# title = "Horovod's rank and size instead of the worker's"
#
# [fails]
# input-shards-tests = ["no shard", "by the arguments"]
# ///

# %% role="changes" id="input-fn"
# -    records = read_files(files[worker::num_workers])
# +    records = read_files(files[hvd.rank() :: hvd.size()])
