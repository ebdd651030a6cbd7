# /// answer
# title = "Every rank looks into the folder, which only rank 0 has"
#
# [fails]
# train-continued-tests = ["had already finished"]
# ///

# %% role="changes" id="train"
# -    if hvd.broadcast_object(num_steps_done(folder), root_rank=0) < num_steps:
# +    if num_steps_done(folder) < num_steps:
