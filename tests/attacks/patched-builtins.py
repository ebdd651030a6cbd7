# /// attack
# title = "Replace functions that every check uses"
# lab = "01-sgd"
# class = "monkeypatching"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

import builtins

really = builtins.float


def num_updates(num_samples, batch_size, num_epochs):
    return 0


class Odd(really):
    def __eq__(self, other):
        return True

    __hash__ = really.__hash__


builtins.float = Odd


# %% after="num-updates-tests"
import builtins

builtins.float = really
