# /// answer
# title = "The loss is the sum of the batch"
#
# [fails]
# rate-tests = ["4 times", "is the loss their sum"]
# ///

# %% role="changes" id="train"
# -            F.cross_entropy(wrapped(x), y).backward()
# +            F.cross_entropy(wrapped(x), y, reduction="sum").backward()
