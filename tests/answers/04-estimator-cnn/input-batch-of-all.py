# /// answer
# title = "Batches for all workers, on each of them"
#
# [fails]
# input-modes-tests = ["images in the batches", "expected 2"]
# ///

# %% role="changes" id="input-fn"
# -    return make_batches(records, training, params)
# +    return make_batches(records, training, {**params, "batch_size": params["batch_size"] * num_workers})
