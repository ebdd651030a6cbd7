# /// attack
# title = "Clear what was printed before the test fails"
# lab = "01-sgd"
# class = "forged results"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

from IPython.display import clear_output


def num_updates(num_samples, batch_size, num_epochs):
    clear_output()
    return 0
