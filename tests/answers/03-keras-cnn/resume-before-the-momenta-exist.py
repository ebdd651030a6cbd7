# /// answer
# title = "Everything is broadcast, but the optimiser is not built yet"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# resume-tests = ["momenta"]
# ///

# %% role="changes" id="resume"
# -    network.optimizer.build(network.trainable_variables)
