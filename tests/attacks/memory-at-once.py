# /// attack
# title = "Ask for far more memory than there is"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests"]
# flags = ["memory"]
# ///

# %% role="answer" id="num-updates"


def num_updates(num_samples, batch_size, num_epochs):
    return len(bytearray(8 << 30))
