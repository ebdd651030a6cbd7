# /// answer
# title = "load_picture is never told that it is for training"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# order-tests = ["images for training are not cut at random"]
# ///

# %% role="changes" id="make-dataset"
# -    load = lambda record: load_picture(record, training)
# +    load = lambda record: load_picture(record, training=False)
