# /// attack
# title = "Define a check that never fails"
# lab = "01-sgd"
# class = "monkeypatching"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"


class check:
    def __init__(self, name, section=""):
        pass

    def __enter__(self):
        pass

    def __exit__(self, *error):
        return True


def num_updates(num_samples, batch_size, num_epochs):
    return 0
