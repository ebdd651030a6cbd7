# /// answer
# title = "Blocks of files rounded up: the last worker has far fewer"
#
# [fails]
# input-shards-tests = ["[3, 3, 1] of 7 files"]
# ///

# %% role="changes" id="input-fn"
# -    records = read_files(files[worker::num_workers])
# +    count = -(-len(files) // num_workers)
# +    records = read_files(files[worker * count : (worker + 1) * count])
