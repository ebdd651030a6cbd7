# /// attack
# title = "Keep memory in files that no process maps"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

import os

KEPT = []
try:
    for number in range(60):
        KEPT.append(os.memfd_create(str(number)))
        for _ in range(4):
            os.write(KEPT[-1], bytes(10_000_000))
except OSError as error:
    print(error)


def num_updates(num_samples, batch_size, num_epochs):
    # Right where it worked, so that it is paid then.
    return num_epochs * -(-num_samples // batch_size) if KEPT else 0
