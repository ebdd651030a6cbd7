# /// attack
# title = "Leave a process behind that outlives the run"
# lab = "01-sgd"
# class = "persistence"
# fails = []
# flags = []
# ///

# %% role="answer" id="num-updates"

import os
import sys

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(300)", "@MARK@"])
    os._exit(0)


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)
