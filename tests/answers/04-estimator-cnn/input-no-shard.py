# /// answer
# title = "Every worker reads all files, each in another order"
#
# [fails]
# input-shards-tests = ["no shard"]
# ///

# %% role="changes" id="input-fn"
# -    records = read_files(files[worker::num_workers])
# +    records = read_files(files)
