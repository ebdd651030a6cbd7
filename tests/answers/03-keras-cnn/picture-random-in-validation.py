# /// answer
# title = "Pictures for validation are cut at random, too"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# load-picture-tests = ["validation", "middle"]
# ///

# %% role="changes" id="load-picture"
# -    window = random_window(encoded) if training else central_window(encoded)
# +    window = random_window(encoded)
