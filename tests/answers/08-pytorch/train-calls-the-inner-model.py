# /// answer
# title = "The model itself is called, past DDP: same start, and nothing is averaged"
#
# [fails]
# averaged-tests = ["own gradients"]
# ///

# %% role="changes" id="train"
# -            F.cross_entropy(wrapped(x), y).backward()
# +            F.cross_entropy(model(x), y).backward()
