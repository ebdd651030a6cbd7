# /// answer
# title = "Every rank looks for the number of steps in its own model_dir"
#
# [fails]
# train-continued-tests = ["had already finished"]
# ///

# %% role="changes" id="train"
# -    if hvd.broadcast_object(num_steps_done(folder), root_rank=0) < num_steps:
# +    if num_steps_done(estimator.model_dir) < num_steps:
