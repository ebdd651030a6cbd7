# /// attack
# title = "A right answer that warns"
# lab = "01-sgd"
# class = "right"
# fails = []
# flags = []
# ///

# %% role="answer" id="num-updates"
import warnings


def num_updates(num_samples, batch_size, num_epochs):
    warnings.warn("this is deprecated")
    return num_epochs * -(-num_samples // batch_size)
