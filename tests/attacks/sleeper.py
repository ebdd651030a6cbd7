# /// attack
# title = "Sleep to look like work"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests"]
# flags = ["TimeoutError"]
# ///

# %% role="answer" id="num-updates"

import time

time.sleep(3600)
