# /// answer
# title = "Batches are made as for training in both modes: incomplete ones are dropped"
#
# [fails]
# input-modes-tests = ["leaves out"]
# ///

# %% role="changes" id="input-fn"
# -    return make_batches(records, training, params)
# +    return make_batches(records, True, params)
