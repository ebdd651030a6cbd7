# /// answer
# title = "The model is not returned, and the measurement has none"
#
# [fails]
# fsdp-tests = ["shard returned None"]
# ///

# %% role="changes" id="shard"
# -    return model
