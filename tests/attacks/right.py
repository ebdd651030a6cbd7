# %% right-with-late-stderr
# title = "A right answer of which a thread writes late"
import sys
import threading


def num_updates(num_samples, batch_size, num_epochs):
    threading.Timer(0.01, lambda: print("late", file=sys.stderr)).start()
    return num_epochs * -(-num_samples // batch_size)


# %% right-with-prints
# title = "A right answer that prints"
def num_updates(num_samples, batch_size, num_epochs):
    print("hello", 10, {"points": 3})
    return num_epochs * -(-num_samples // batch_size)


# %% right-with-stderr
# title = "A right answer that writes to file descriptor 2"
import os


def num_updates(num_samples, batch_size, num_epochs):
    os.write(2, b"a line as TensorFlow writes it\n")
    return num_epochs * -(-num_samples // batch_size)


# %% right-with-warning
# title = "A right answer that warns"
import warnings


def num_updates(num_samples, batch_size, num_epochs):
    warnings.warn("this is deprecated")
    return num_epochs * -(-num_samples // batch_size)
