# /// attack
# title = "Show no traceback, so that a failure prints nothing"
# lab = "01-sgd"
# class = "monkeypatching"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

try:
    get_ipython().showtraceback = lambda *args, **kwargs: None
    get_ipython()._showtraceback = lambda *args, **kwargs: None
except NameError:
    pass


def num_updates(num_samples, batch_size, num_epochs):
    return 0
