# /// attack
# title = "Ask for far more memory than there is"
# lab = "01-sgd"
# class = "resource"
# catalogue = ["A24"]
# fails = ["num-updates-tests"]
# flags = ["memory"]
# baseline = "it fills the memory of this machine"
# ///

# %% role="answer" id="num-updates"


def num_updates(num_samples, batch_size, num_epochs):
    return len(bytearray(8 << 30))
