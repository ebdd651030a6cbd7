# /// answer
# title = "Each rank takes as many files, and nobody reads those that are left"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# shards-tests = ["read by no rank"]
# ///

# %% role="changes" id="make-dataset"
# -    files = files[hvd.rank() :: hvd.size()]
# +    num_files = len(files) // hvd.size()
# +    files = files[hvd.rank() * num_files : (hvd.rank() + 1) * num_files]
