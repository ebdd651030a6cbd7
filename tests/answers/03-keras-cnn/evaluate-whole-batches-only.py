# /// answer
# title = "The pictures of the last, smaller batch are left out"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# evaluate-tests = ["over the images of all ranks"]
# ///

# %% role="changes" id="evaluate"
# -    network.evaluate(dataset, verbose=0)
# +    network.evaluate(dataset.unbatch().batch(3, drop_remainder=True), verbose=0)
