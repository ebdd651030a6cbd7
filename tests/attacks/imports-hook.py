# /// attack
# title = "Hook the import of modules"
# lab = "01-sgd"
# class = "monkeypatching"
# fails = []
# flags = []
# ///

# %% role="answer" id="num-updates"

import sys


class Finder:
    def find_spec(self, name, path=None, target=None):
        return None


sys.meta_path.insert(0, Finder())


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)
