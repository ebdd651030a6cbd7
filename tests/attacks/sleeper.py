# /// attack
# title = "Sleep to look like work"
# lab = "01-sgd"
# class = "resource"
# catalogue = ["X35"]
# fails = ["num-updates-tests"]
# flags = ["TimeoutError"]
# baseline = "it takes for ever"
# ///

# %% role="answer" id="num-updates"

import time

time.sleep(3600)
