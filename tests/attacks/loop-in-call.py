# /// attack
# title = "Loop for ever when called"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests"]
# flags = ["TimeoutError"]
# ///

# %% role="answer" id="num-updates"


def num_updates(num_samples, batch_size, num_epochs):
    while True:
        pass
