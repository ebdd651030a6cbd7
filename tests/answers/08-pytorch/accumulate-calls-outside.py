# /// answer
# title = "Only backward() is inside of no_sync: it was decided when the model was called"
#
# [fails]
# exchanges-tests = ["number of exchanges"]
# ///

# %% role="changes" id="accumulate"
# -        with model.no_sync() if number < len(batches) else contextlib.nullcontext():
# -            loss = F.cross_entropy(model(x), y) / len(batches)
# -            loss.backward()
# +        loss = F.cross_entropy(model(x), y) / len(batches)
# +        with model.no_sync() if number < len(batches) else contextlib.nullcontext():
# +            loss.backward()
