# /// answer
# title = "The model is in evaluation mode: dropout and batch normalisation do not train"
#
# [fails]
# start-tests = ["training mode"]
# averaged-tests = ["training mode"]
# rate-tests = ["training mode"]
# ///

# %% role="changes" id="train"
#      wrapped = DistributedDataParallel(model)
# +    wrapped.eval()
