# /// answer
# title = "Nobody wraps the model: each rank trains alone"
#
# [fails]
# start-tests = ["not broadcast"]
# averaged-tests = ["own gradients"]
# ///

# %% role="changes" id="train"
# -    wrapped = DistributedDataParallel(model)
# +    wrapped = model
