# /// answer
# title = "Blue comes first, as OpenCV has it"
# consequences = ["shards-tests", "order-tests", "train-tests", "continued-tests"]
#
# [fails]
# load-picture-tests = ["colours", "three channels"]
# ///

# %% role="changes" id="load-picture"
# -    return picture / 127.5 - 1, label
# +    return picture[..., ::-1] / 127.5 - 1, label
