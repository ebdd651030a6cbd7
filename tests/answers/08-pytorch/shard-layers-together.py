# /// answer
# title = "All layers are one unit: their weights are collected together"
#
# [fails]
# fsdp-tests = ["still whole", "several layers"]
# ///

# %% role="answer" id="shard"
def shard(model):
    fully_shard(list(model))
    fully_shard(model)
    return model
