# /// answer
# title = "A training that has ended makes a step more each time it is started"
#
# [fails]
# train-continued-tests = ["more steps"]
# ///

# %% role="changes" id="train"
# -    if hvd.broadcast_object(num_steps_done(folder), root_rank=0) < num_steps:
# +    done = hvd.broadcast_object(num_steps_done(folder), root_rank=0)
# +    if num_steps:

# -            max_steps=num_steps,
# +            steps=max(1, num_steps - done),
