# /// answer
# title = "Every rank makes all the steps"
#
# [fails]
# train-steps-tests = ["not divided"]
# train-continued-tests = []
# ///

# %% role="changes" id="train"
# -    num_steps = num_steps // hvd.size()
