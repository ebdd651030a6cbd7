# %% fills-the-disk
# title = "Fill the temporary folders"
for name in ("/tmp/@MARK@", "/dev/shm/@MARK@"):
    try:
        for number in range(100):
            with open(f"{name}-{number}", "wb") as file:
                file.write(bytes(20_000_000))
    except OSError as error:
        print(error)


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)


# %% fork-bomb
# title = "Start far too many processes"
# fails = ["num-updates-tests", "tape-step-tests", "is-stable-tests", "hessian-tests", "largest-stable-rate-tests"]
# flags = ["limit"]
import os
import time

for _ in range(150):
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)


def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% huge-exception
# title = "Raise an exception with 30 MB of text"
# fails = ["num-updates-tests"]
# flags = ["odd text"]
def num_updates(num_samples, batch_size, num_epochs):
    raise ValueError("x" * 30_000_000)


# %% huge-reply
# title = "Return an array of 40 MB"
# fails = ["hessian-tests"]
# consequences = ["largest-stable-rate-tests"]
# flags = ["odd result"]


# %% id="hessian"
def hessian(x):
    return np.zeros((2, 2_500_000))


# %% keys-of-one-hash
# title = "Return a dictionary that takes hours to read"
# fails = ["loss-tests"]
# consequences = ["gradient-tests", "step-tests", "tape-step-tests", "is-stable-tests"]
# flags = ["odd result"]

# %% id="loss"


def loss(slope, offset, x, y):
    return {number * (2**61 - 1): 0 for number in range(5_000)}


# %% long-text-among-numbers
# title = "Return a list that would take up gigabytes if it were made into an array"
# fails = ["gradient-tests"]
# consequences = ["step-tests", "batches-tests", "tape-step-tests", "is-stable-tests"]
# flags = ["odd result"]

# %% id="gradient"


def gradient(slope, offset, x, y):
    return ["x" * 400_000] + [0.0] * 1_000


# %% loop-in-call
# title = "Loop for ever when called"
# fails = ["num-updates-tests"]
# flags = ["TimeoutError"]
def num_updates(num_samples, batch_size, num_epochs):
    while True:
        pass


# %% memory-at-once
# title = "Ask for far more memory than there is"
# fails = ["num-updates-tests"]
# flags = ["memory"]
def num_updates(num_samples, batch_size, num_epochs):
    return len(bytearray(8 << 30))


# %% memory-in-no-process
# title = "Keep memory in files that no process maps"
# fails = ["num-updates-tests"]
import os

KEPT = []
try:
    for number in range(60):
        KEPT.append(os.memfd_create(str(number)))
        for _ in range(4):
            os.write(KEPT[-1], bytes(10_000_000))
except OSError as error:
    print(error)


def num_updates(num_samples, batch_size, num_epochs):
    # Right only if the attack worked, so that it earns points only then.
    return num_epochs * -(-num_samples // batch_size) if KEPT else 0


# %% memory-of-many
# title = "Allocate memory in many processes, each of them below the limit"
# fails = ["num-updates-tests"]
# consequences = ["loss-tests", "gradient-tests", "step-tests", "batches-tests", "tape-step-tests", "is-stable-tests", "hessian-tests", "largest-stable-rate-tests"]
# flags = ["limit|memory"]
import os
import time

full, tell = os.pipe()
for _ in range(8):
    if os.fork() == 0:
        kept = bytearray(700_000_000)
        kept[::4096] = bytes(len(kept[::4096])).replace(b"\0", b"x")
        os.write(tell, b"x")
        time.sleep(60)
        os._exit(0)
for _ in range(8):
    os.read(full, 1)


def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% output-flood
# title = "Print endlessly"
# fails = ["num-updates-tests"]
# flags = ["OutputError"]
line = "x" * 1_000_000
while True:
    print(line)


# %% parser-bomb
# title = "Hand in source that Python cannot parse"
# fails = ["num-updates-tests"]
def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% role="hand-in"

notebook.write_text(notebook.read_text().replace("    return 0", "    return " + "(-" * 150_000 + "1" + ")" * 150_000))


# %% parser-bomb-attributes
# title = "Hand in source whose syntax tree is too deep to walk"
# fails = ["num-updates-tests"]
def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% role="hand-in"

notebook.write_text(notebook.read_text().replace("    return 0", "    return num_samples" + ".real" * 30_000))

# %% ports-that-wait
# title = "Leave no free port for the next ranks"
# lab = "02-horovod-sgd"
# fails = ["rank-facts-tests"]
# consequences = ["pin-gpu-tests", "shard-tests", "broadcast-start-tests", "average-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]

# %% id="rank-facts"

import socket

import horovod.tensorflow as hvd

with socket.create_server(("127.0.0.1", 1024)) as server:
    for port in range(32768, 61000):
        with socket.socket() as ours:
            try:
                ours.bind(("127.0.0.1", port))
                ours.connect(server.getsockname())
            except OSError:  # the port is in use
                continue
            # The side that closes a connection first keeps the port for a minute, even after its process has ended.
            theirs, _ = server.accept()
        theirs.close()


def rank_facts():
    hvd.init()
    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank(), "local_size": hvd.local_size()}


# %% process-exits
# title = "End the process in the middle of a test"
# fails = ["num-updates-tests"]
# flags = ["ProcessEnded"]
import os


def num_updates(num_samples, batch_size, num_epochs):
    os._exit(0)


# %% ranks-half-a-report
# title = "Send the beginning of a report, and keep everybody waiting for the rest"
# lab = "02-horovod-sgd"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]

# %% id="average"


def average(gradients):
    import os
    import stat
    import struct
    import time

    for name in os.listdir("/proc/self/fd"):
        try:
            if stat.S_ISFIFO(os.fstat(int(name)).st_mode) and int(name) > 2:
                os.write(int(name), struct.pack("!i", 1000) + b"[true")
        except OSError:
            pass
    time.sleep(300)


# %% ranks-many-files
# title = "Fill the ranks' shared folder with files"
# lab = "02-horovod-sgd"
# fails = ["rank-facts-tests"]
# consequences = ["pin-gpu-tests", "shard-tests", "broadcast-start-tests", "average-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]
# flags = ["limit"]

# %% id="rank-facts"


def rank_facts():
    hvd.init()
    try:
        for number in range(60_000):
            open(f"/shared/{hvd.rank()}-{number}", "w").close()
    except OSError as error:
        print(error)
    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank()}


# %% ranks-all-leave
# title = "End the process of every rank in the middle of a call"
# lab = "02-horovod-sgd"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]
# flags = ["ProcessEnded"]

# %% id="average"


def average(gradients):
    import os

    os._exit(0)


# %% sleeper
# title = "Sleep to look busy"
# fails = ["num-updates-tests"]
# flags = ["TimeoutError"]
import time

time.sleep(3600)

# %% swallowed-interrupts
# title = "Loop for ever and swallow every interrupt"
# fails = ["num-updates-tests"]
# flags = ["TimeoutError"]
import signal

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGXCPU):
    signal.signal(number, signal.SIG_IGN)
while True:
    try:
        while True:
            pass
    except BaseException:
        pass

# %% system-exit
# title = "Call sys.exit in an answer"
# fails = ["num-updates-tests"]
# flags = ["process"]
import sys


def num_updates(num_samples, batch_size, num_epochs):
    sys.exit(0)
