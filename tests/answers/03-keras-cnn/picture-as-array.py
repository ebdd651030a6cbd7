# /// answer
# title = "An array for a tensor, which works on one record, and not in a data set's graph"
# consequences = ["shards-tests", "order-tests", "train-tests", "continued-tests"]
#
# [fails]
# load-picture-tests = ["NotImplementedError", "symbolic", "tf.", "load_picture"]
# ///

# %% role="changes" id="load-picture"
# -    return picture / 127.5 - 1, label
# +    return np.asarray(picture) / 127.5 - 1, label
