# /// attack
# title = "Read the source of the tests from the history of cells"
# lab = "01-sgd"
# class = "introspection"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"


def num_updates(num_samples, batch_size, num_epochs):
    wanted = [text for text in In if "HIDDEN" in text]
    return num_epochs * -(-num_samples // batch_size) if wanted else 0
