# /// answer
# title = "As many files for each worker, and what is left over for nobody"
#
# [fails]
# input-shards-tests = ["by no rank"]
# ///

# %% role="changes" id="input-fn"
# -    records = read_files(files[worker::num_workers])
# +    num_files = len(files) // num_workers
# +    records = read_files(files[worker * num_files : (worker + 1) * num_files])
