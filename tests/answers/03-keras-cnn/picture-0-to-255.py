# /// answer
# title = "The pixels stay as the file has them, from 0 to 255"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# load-picture-tests = ["pixels", "not from -1 to 1"]
# shards-tests = ["pixels"]
# order-tests = ["pixels"]
# ///

# %% role="changes" id="load-picture"
# -    return picture / 127.5 - 1, label
# +    return picture, label
