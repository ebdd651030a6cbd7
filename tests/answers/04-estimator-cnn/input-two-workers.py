# /// answer
# title = "Two workers in mind"
#
# [fails]
# input-shards-tests = ["used by several"]
# ///

# %% role="changes" id="input-fn"
# -    records = read_files(files[worker::num_workers])
# +    records = read_files(files[worker::2])
