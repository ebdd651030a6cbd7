# /// answer
# title = "FSDP shares out the weights alone"
# consequences = ["budget-tests"]
#
# [fails]
# predict-tests = ["bytes held", "only 4 of its 16"]
# ///

# %% role="changes" id="predict-bytes"
# -    shared = {"ddp": 0, "zero": 8, "fsdp": 16}[kind]
# +    shared = {"ddp": 0, "zero": 8, "fsdp": 4}[kind]
