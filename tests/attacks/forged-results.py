# %% exception-of-the-kit
# title = "Raise exceptions that look like the judge's own"
# fails = ["num-updates-tests"]
class Fault(BaseException):
    """The machine failed, not the student."""


class CheckError(Exception):
    pass


def num_updates(num_samples, batch_size, num_epochs):
    raise Fault("the machine failed: another run is needed") if num_samples % 2 else CheckError("passed")


# %% files-that-are-claimed
# title = "Claim to have written a file that was never written"
# lab = "02-horovod-sgd"
# fails = ["save-history-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "average-tests", "scale-rate-tests", "max-num-ranks-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]

# %% id="save-history"


def save_history(history, folder):
    import coursekit.drivers.places

    files = {"history.npy": np.array(history)} if hvd.rank() == 0 else {}
    coursekit.drivers.places.left_in = lambda folder: files


# %% forged-cell-reply
# title = "Forge the cell's reply, with a value that crashes a careless judge"
# fails = ["num-updates-tests"]
# flags = ["odd reply"]
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


for number in range(100):
    send(number, value=[[1], 2])


def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% forged-length
# title = "Announce a message of two gigabytes"
# fails = ["num-updates-tests"]
# flags = ["ProcessEnded"]
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
    for channel in sockets():
        try:
            os.write(channel, struct.pack("!i", 2**31 - 1) + b"[" * 100_000)
        except OSError:
            pass
    return 0


# %% forged-wrong-form
# title = "Send the submission's server malformed replies of every kind"
# fails = ["num-updates-tests"]
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
    for reply in (
        {"error": 5},
        {"value": 1, "error": 5},
        {"error": [[], {}]},
        {"value": {"!": "driver", "v": ["os", "system"]}},
    ):
        for number in range(500):
            send(number, **reply)
    return 0


# %% one-reply-for-all
# title = "Reply only to the first question"
# lab = "03-keras-cnn"
# fails = ["plan-tests"]
# consequences = ["pin-gpu-tests", "load-picture-tests", "shards-tests", "order-tests", "elastic-tests", "warmed-up-tests", "optimizer-tests", "compression-tests", "start-tests", "metrics-tests", "files-tests", "resume-tests", "evaluate-tests", "train-tests", "continued-tests", "make-step-tests"]

# %% id="plan"


def plan(num_images, batch_size, learning_rate, global_batch=0):
    import sys

    frame = sys._getframe()
    while frame:
        cases = frame.f_locals.get("cases")
        if isinstance(cases, list):
            cases.clear()
        frame = frame.f_back
    return 10, 0.1 * hvd.size(), 1000 // (10 * hvd.size())


# %% printed-verdict
# title = "Print a forged verdict, and write it to files"
# fails = ["num-updates-tests"]
import json
from pathlib import Path

verdict = json.dumps({"scores": [{"grade_id": "num-updates-tests", "points": 1.0, "max_points": 1.0, "message": ""}]})
for name in ("results.json", "gradebook.json", "verdict.json", "output.json"):
    Path(name).write_text(verdict)
print("PASSED 20/20", verdict)


def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% ranks-inherited-channels
# title = "Answer in the server's place, on sockets that a rank should not have"
# lab = "02-horovod-sgd"
# fails = ["rank-facts-tests"]
# consequences = ["pin-gpu-tests", "shard-tests", "broadcast-start-tests", "average-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]

# %% id="rank-facts"


def rank_facts():
    import os
    import stat

    channels = []
    for name in os.listdir("/proc/self/fd"):
        try:
            channels += [name] if stat.S_ISSOCK(os.fstat(int(name)).st_mode) else []
        except OSError:
            pass
    if not channels:
        return {}
    hvd.init()
    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank()}


# %% shipped-weights
# title = "Hand in precomputed results"
# fails = ["num-updates-tests"]
# flags = ["note"]
from pathlib import Path


def num_updates(num_samples, batch_size, num_epochs):
    return int(Path("result.txt").read_text()) if Path("result.txt").exists() else 0


# %% role="hand-in"

(folder / "result.txt").write_text("1000")

# %% sums-past-the-channel
# title = "Compute the sum through files, and send dummy messages of the same number and size as in a ring"
# lab = "06-between-ranks"
# fails = ["ring-tests"]

# %% id="ring-allreduce"

from pathlib import Path


def ring_allreduce(channel, array):
    rank, size, folder = channel.rank, channel.num_ranks, Path("/shared")
    np.save(folder / f"unfinished-{array.size}-{rank}.npy", array)
    (folder / f"unfinished-{array.size}-{rank}.npy").rename(folder / f"@MARK@-{array.size}-{rank}.npy")
    for _ in range(2 * (size - 1)):
        channel.send(array.ravel()[: array.size // size], (rank + 1) % size)
        channel.receive((rank - 1) % size)
    parts = [folder / f"@MARK@-{array.size}-{other}.npy" for other in range(size)]
    while not all(part.exists() for part in parts):
        pass
    return np.sum([np.load(part) for part in parts], axis=0)


# %% time-of-the-store
# title = "Remove the delays from the slow store and from time.sleep, and feed the ranks with the slow code"
# lab = "05-feed-the-ranks"
# fails = ["faster-tests"]

# %% id="feed-fast"


def feed_fast(store, batch_size):
    import time

    store.read_s = store.decode_s = store.train_s = 0.0
    time.sleep = lambda seconds: None
    store._start = time.perf_counter() + 10
    return feed_slowly(store, batch_size)
