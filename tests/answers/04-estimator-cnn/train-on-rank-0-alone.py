# /// answer
# title = "Only rank 0 trains, and the others have nothing to do"
#
# [fails]
# train-start-tests = ["rank 0"]
# train-shards-tests = []
# train-steps-tests = []
# train-config-tests = []
# train-continued-tests = []
# ///

# %% role="changes" id="train"
# -    if hvd.broadcast_object(num_steps_done(folder), root_rank=0) < num_steps:
# +    if hvd.rank() == 0:
