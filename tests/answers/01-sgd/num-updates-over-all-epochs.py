# /// answer
# title = "Samples of all epochs are run together before dividing"
#
# [fails]
# num-updates-tests = ["expected"]
# ///

# %% role="answer" id="num-updates"
def num_updates(num_samples, batch_size, num_epochs):
    return -(-num_samples * num_epochs // batch_size)
