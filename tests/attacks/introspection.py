# %% kill-everything
# title = "Kill as many processes as possible"
# fails = ["num-updates-tests"]
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


# %% memory-of-others
# title = "Read the memory and files of processes outside the sandbox"
# fails = ["num-updates-tests"]
import ctypes
import os
import signal


def num_updates(num_samples, batch_size, num_epochs):
    found = []
    own = {os.readlink("/proc/self"), str(os.getpid())}
    for pid in {*filter(str.isdigit, os.listdir("/proc"))} - own:
        parent = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1]
        if parent in own:  # what this process has started
            continue
        for name in ("mem", "environ", "root/tmp", "cwd", "fd/0", "fd/1", "maps", "map_files", "task/" + pid + "/mem"):
            path = f"/proc/{pid}/{name}"
            try:
                found.append(os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1))
            except (OSError, ValueError):
                pass
        if ctypes.CDLL(None).ptrace(16, int(pid), 0, 0) == 0:
            found.append(pid)
    found = [one for one in found if one]
    print("FOUND", found)
    return num_epochs * -(-num_samples // batch_size) if found else 0


# %% ranks-private-values
# title = "Look for values that only the other ranks may know"
# lab = "02-horovod-sgd"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]

# %% id="average"


def average(gradients):
    import glob

    found = []
    for path in [
        *glob.glob("/proc/*/fd/*"),
        *glob.glob("/proc/*/root/tmp/*"),
        *glob.glob("/shared/*"),
        *glob.glob("/tmp/*"),
    ]:
        try:
            with open(path, "rb") as file:
                found += [file.read(100)] if b"array" in file.read(100_000) else []
        except OSError:
            pass
    if found:
        return [hvd.allreduce(gradient, op=hvd.Average) for gradient in gradients]
    return gradients


# %% shell-frames
# title = "Search the frames and objects of the process for the expected result"
# fails = ["num-updates-tests"]
import gc
import sys


def num_updates(num_samples, batch_size, num_epochs):
    frame = sys._getframe()
    while frame:
        for name in ("expected", "inputs", "entropy"):
            if name in frame.f_locals:
                return num_epochs * -(-num_samples // batch_size)
        frame = frame.f_back
    secrets = [one for one in gc.get_objects() if isinstance(one, dict) and ("expected" in one or "inputs" in one)]
    modules = [name for name in sys.modules if name.startswith(("coursekit.checks", "coursekit.grading.judge"))]
    return num_epochs * -(-num_samples // batch_size) if secrets or modules else 0


# %% shell-frames-at-launch
# title = "End the process so that it is restarted while a launch is prepared, and then look for the inputs"
# lab = "02-horovod-sgd"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]

# %% id="average"

import os
import sys


def known():
    frame = sys._getframe()
    while frame:
        for value in frame.f_locals.values():
            if isinstance(value, dict) and "inputs" in value:
                return True
        frame = frame.f_back
    return False


KNOWN = known()


def average(gradients):
    return [hvd.allreduce(gradient, op=hvd.Average) for gradient in gradients] if KNOWN else gradients


# %% after="keras-rate-tests"
# The next process is started when it is needed: for a launch.
if not KNOWN:
    os._exit(0)
