# /// answer
# title = "The middle is cut out for training, too"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# load-picture-tests = ["random window"]
# ///

# %% role="changes" id="load-picture"
# -    window = random_window(encoded) if training else central_window(encoded)
# +    window = central_window(encoded)
