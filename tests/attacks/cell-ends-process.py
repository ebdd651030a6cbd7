# /// attack
# title = "End the process when the cell is run"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests"]
# flags = ["ProcessEnded"]
# ///

# %% role="answer" id="num-updates"

import os

os._exit(0)
