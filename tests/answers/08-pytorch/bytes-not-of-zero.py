# /// answer
# title = "The state of ZeRO's optimiser is looked for in the wrapper, which has none"
#
# [fails]
# bytes-tests = ["zero, bytes of optimizer"]
# ///

# %% role="changes" id="bytes-held"
# -    inner = getattr(optimizer, "optim", optimizer)
# +    inner = optimizer
