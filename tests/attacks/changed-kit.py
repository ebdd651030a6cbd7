# /// attack
# title = "Change the files of the kit and of its packages"
# lab = "01-sgd"
# class = "persistence"
# fails = []
# flags = []
# ///

# %% role="answer" id="num-updates"

import coursekit
import numpy

for module in (coursekit, numpy, coursekit.ranks if hasattr(coursekit, "ranks") else numpy):
    try:
        with open(module.__file__, "a") as file:
            file.write("# @MARK@")
    except OSError as error:
        print(error)


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)
