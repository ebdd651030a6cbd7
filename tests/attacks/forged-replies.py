# /// attack
# title = "Answer requests of the judge before they are made"
# lab = "01-sgd"
# class = "forged results"
# fails = ["num-updates-tests"]
# flags = ["odd reply"]
# ///

# %% role="answer" id="num-updates"

import json
import os
import struct


def sockets():
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                yield int(name)
        except OSError:
            pass


def send(number, **reply):
    data = json.dumps({"number": number, **reply}).encode()
    for channel in sockets():
        try:
            os.write(channel, struct.pack("!i", len(data)) + data)
        except OSError:
            pass


def num_updates(num_samples, batch_size, num_epochs):
    for number in range(1000):
        send(number, value="passed", points=100)
    return 0
