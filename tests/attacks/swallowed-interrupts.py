# /// attack
# title = "Loop for ever and swallow every interrupt"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests"]
# flags = ["TimeoutError"]
# ///

# %% role="answer" id="num-updates"

import signal

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGXCPU):
    signal.signal(number, signal.SIG_IGN)
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
