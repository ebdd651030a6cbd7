# /// answer
# title = "The gradients of the batches are added up, and not averaged"
#
# [fails]
# accumulated-tests = ["sum over the batches"]
# ///

# %% role="changes" id="accumulate"
# -            loss = F.cross_entropy(model(x), y) / len(batches)
# +            loss = F.cross_entropy(model(x), y)
