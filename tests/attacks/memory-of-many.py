# /// attack
# title = "Take memory in many processes, each below the limit"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests"]
# consequences = ["loss-tests", "gradient-tests", "step-tests", "batches-tests", "tape-step-tests", "is-stable-tests", "hessian-tests", "largest-stable-rate-tests"]
# flags = ["limit|memory"]
# ///

# %% role="answer" id="num-updates"

import os
import time

full, tell = os.pipe()
for _ in range(8):
    if os.fork() == 0:
        kept = bytearray(700_000_000)
        kept[::4096] = bytes(len(kept[::4096])).replace(b"\0", b"x")
        os.write(tell, b"x")
        time.sleep(60)
        os._exit(0)
for _ in range(8):
    os.read(full, 1)


def num_updates(num_samples, batch_size, num_epochs):
    return 0
