# /// answer
# title = "The optimiser is given to compile by its name"
#
# [fails]
# keras-average-tests = ["not averaged"]
# keras-rate-tests = []
# ///

# %% role="changes" id="train-keras"
# -    model.compile(optimizer=optimizer, loss="mse")
# +    model.compile(optimizer="sgd", loss="mse")
