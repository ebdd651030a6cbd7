# /// attack
# title = "A right answer that writes to file descriptor 2"
# lab = "01-sgd"
# class = "right"
# fails = []
# flags = []
# ///

# %% role="answer" id="num-updates"
import os


def num_updates(num_samples, batch_size, num_epochs):
    os.write(2, b"a line as TensorFlow writes it\n")
    return num_epochs * -(-num_samples // batch_size)
