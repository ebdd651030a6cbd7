# /// answer
# title = "ZeRO-1 shares out the gradients as well"
# consequences = ["budget-tests"]
#
# [fails]
# predict-tests = ["bytes held", "this is ZeRO-2"]
# ///

# %% role="changes" id="predict-bytes"
# -    shared = {"ddp": 0, "zero": 8, "fsdp": 16}[kind]
# +    shared = {"ddp": 0, "zero": 12, "fsdp": 16}[kind]
