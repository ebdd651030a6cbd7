# /// answer
# title = "Batches are made as for an evaluation in both modes: no image is cut at random"
#
# [fails]
# input-modes-tests = ["for training are not cut"]
# ///

# %% role="changes" id="input-fn"
# -    return make_batches(records, training, params)
# +    return make_batches(records, False, params)
