# /// attack
# title = "A right answer of which a thread writes late"
# lab = "01-sgd"
# class = "right"
# fails = []
# flags = []
# ///

# %% role="answer" id="num-updates"
import sys
import threading


def num_updates(num_samples, batch_size, num_epochs):
    threading.Timer(0.01, lambda: print("late", file=sys.stderr)).start()
    return num_epochs * -(-num_samples // batch_size)
