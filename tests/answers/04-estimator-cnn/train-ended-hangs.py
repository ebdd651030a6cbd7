# /// answer
# title = "max_steps alone: when all is done, rank 0 returns at once and leaves the others alone"
#
# [fails]
# train-continued-tests = ["had already finished"]
# ///

# %% role="changes" id="train"
# -    if hvd.broadcast_object(num_steps_done(folder), root_rank=0) < num_steps:
# -        estimator.train(
# +    estimator.train(
