# /// answer
# title = "Right: gradients are divided by the ranks that still have a batch"
# ///

# %% role="changes" id="train-all"
# -    with model.join():
# +    with model.join(divide_by_initial_world_size=False):
