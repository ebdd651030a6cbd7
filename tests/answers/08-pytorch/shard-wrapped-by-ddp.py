# /// answer
# title = "DDP, as before: every rank holds everything"
#
# [fails]
# fsdp-tests = ["rank 0", "all of the model's"]
# ///

# %% role="answer" id="shard"
def shard(model):
    for layer in model:
        DistributedDataParallel(layer)
    return model
