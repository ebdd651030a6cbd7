# /// answer
# title = "The records are kept in a file, the same for all workers"
#
# [fails]
# input-shards-tests = ["used by several"]
# ///

# %% role="changes" id="input-fn"
# -    records = read_files(files[worker::num_workers])
# +    records = read_files(files[worker::num_workers]).cache("records")
