# /// answer
# title = "Images are cut at random in an evaluation, too"
#
# [fails]
# input-modes-tests = ["for evaluation are cut"]
# ///

# %% role="changes" id="input-fn"
# -    return make_batches(records, training, params)
# +    load = lambda number, record: load_picture(record, True, params["image_size"], (params["seed"], number))
# +    return records.enumerate().map(load).batch(params["batch_size"], drop_remainder=training)
