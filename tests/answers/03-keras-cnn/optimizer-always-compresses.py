# /// answer
# title = "The text none counts as true, so the gradients always travel with 16 bits"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# compression-tests = ["16 bits, not 32"]
# ///

# %% role="changes" id="make-optimizer"
# -    bits = hvd.Compression.fp16 if compression == "fp16" else hvd.Compression.none
# +    bits = hvd.Compression.fp16 if compression else hvd.Compression.none
