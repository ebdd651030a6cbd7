# /// attack
# title = "Stop the clock"
# lab = "01-sgd"
# class = "time cheats"
# fails = []
# flags = []
# ///

# %% after="num-updates"
import time

time.time = lambda: 0.0
time.monotonic = lambda: 0.0
time.sleep = lambda seconds: None
