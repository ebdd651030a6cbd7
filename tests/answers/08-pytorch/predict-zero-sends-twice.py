# /// answer
# title = "ZeRO-1 sends gradients, and no weights"
#
# [fails]
# predict-tests = ["bytes sent", "not 2 times"]
# ///

# %% role="changes" id="predict-bytes"
# -    times = {"ddp": 2, "zero": 3, "fsdp": 3}[kind]
# +    times = {"ddp": 2, "zero": 2, "fsdp": 3}[kind]
