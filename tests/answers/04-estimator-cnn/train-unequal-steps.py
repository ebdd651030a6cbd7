# /// answer
# title = "Each rank counts the steps of its own files, and one is soon alone"
#
# [fails]
# train-start-tests = ["waits"]
# train-shards-tests = []
# train-steps-tests = []
# train-config-tests = []
# train-continued-tests = []
# ///

# %% role="changes" id="train"
# -            max_steps=num_steps,
# +            max_steps=num_steps + hvd.rank(),
