# /// answer
# title = "Each backward() sends: the same gradient, at four times the price"
#
# [fails]
# exchanges-tests = ["number of exchanges"]
# ///

# %% role="changes" id="accumulate"
# -        with model.no_sync() if number < len(batches) else contextlib.nullcontext():
# -            loss = F.cross_entropy(model(x), y) / len(batches)
# -            loss.backward()
# +        (F.cross_entropy(model(x), y) / len(batches)).backward()
