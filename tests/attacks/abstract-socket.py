# /// attack
# title = "Leave a process that answers on an abstract socket"
# lab = "01-sgd"
# class = "persistence"
# fails = []
# flags = []
# ///

# %% role="answer" id="num-updates"

import os
import socket

if os.fork() == 0:
    os.setsid()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("\0@MARK@")
    listener.listen()
    while True:
        listener.accept()[0].sendall(b"@MARK@")


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)
