# /// attack
# title = "Reach a module through another one, under a name of one's own"
# lab = "01-sgd"
# class = "introspection"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

import tempfile

away = tempfile._os


def num_updates(num_samples, batch_size, num_epochs):
    away.kill(away.getppid(), 0)
    return 0
