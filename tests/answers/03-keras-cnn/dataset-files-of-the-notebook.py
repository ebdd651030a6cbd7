# /// answer
# title = "The notebook's files for training are read, whichever files are given"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# shards-tests = ["of the files given"]
# order-tests = ["of the files given"]
# ///

# %% role="changes" id="make-dataset"
# -    files = files[hvd.rank() :: hvd.size()]
# +    files = train_files[hvd.rank() :: hvd.size()]
