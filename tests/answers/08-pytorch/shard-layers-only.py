# /// answer
# title = "Each layer is a unit, and the model is not: layers keep their weights after the forward pass"
#
# [fails]
# fsdp-tests = ["still whole", "make the model a unit"]
# ///

# %% role="changes" id="shard"
# -    fully_shard(model)
