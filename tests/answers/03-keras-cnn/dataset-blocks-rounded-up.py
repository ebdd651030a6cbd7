# /// answer
# title = "Blocks of files rounded up: the last rank has far fewer"
# consequences = ["order-tests", "train-tests", "continued-tests"]
#
# [fails]
# shards-tests = ["[3, 3, 1] of 7 files"]
# ///

# %% role="changes" id="make-dataset"
# -    files = files[hvd.rank() :: hvd.size()]
# +    count = -(-len(files) // hvd.size())
# +    files = files[hvd.rank() * count : (hvd.rank() + 1) * count]
