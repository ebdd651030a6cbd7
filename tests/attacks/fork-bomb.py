# /// attack
# title = "Start processes without end"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests", "tape-step-tests", "is-stable-tests", "hessian-tests", "largest-stable-rate-tests"]
# flags = ["limit"]
# ///

# %% role="answer" id="num-updates"

import os
import time

for _ in range(150):
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)


def num_updates(num_samples, batch_size, num_epochs):
    return 0
