# /// answer
# title = "The model is made a unit before its layers"
#
# [fails]
# fsdp-tests = ["the layers first"]
# ///

# %% role="answer" id="shard"
def shard(model):
    fully_shard(model)
    for layer in model:
        fully_shard(layer)
    return model
