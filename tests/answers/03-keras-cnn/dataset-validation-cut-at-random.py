# /// answer
# title = "load_picture is always told that it is for training"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# order-tests = ["images for validation are cut at random"]
# ///

# %% role="changes" id="make-dataset"
# -    load = lambda record: load_picture(record, training)
# +    load = lambda record: load_picture(record, True)
