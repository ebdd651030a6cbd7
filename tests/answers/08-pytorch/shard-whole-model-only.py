# /// answer
# title = "The model is one unit: all its weights are collected at once"
#
# [fails]
# fsdp-tests = ["units of their own"]
# ///

# %% role="changes" id="shard"
# -    for layer in model:
# -        fully_shard(layer)
