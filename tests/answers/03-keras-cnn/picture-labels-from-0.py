# /// answer
# title = "The labels are counted from 0, as usual elsewhere"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# load-picture-tests = ["label"]
# order-tests = ["belong together"]
# ///

# %% role="changes" id="load-picture"
# -    return picture / 127.5 - 1, label
# +    return picture / 127.5 - 1, label - 1
