# %% right-with-late-stderr
# title = "A right answer with a thread that writes to stderr late"
import sys
import threading


def num_updates(num_samples, batch_size, num_epochs):
    threading.Timer(0.01, lambda: print("late", file=sys.stderr)).start()
    return num_epochs * -(-num_samples // batch_size)


# %% right-with-warning
# title = "A right answer that issues a warning"
import warnings


def num_updates(num_samples, batch_size, num_epochs):
    warnings.warn("this is deprecated")
    return num_epochs * -(-num_samples // batch_size)
