# %% changed-kit
# title = "Change files of the kit and of the packages that it uses"
import coursekit
import numpy

for module in (coursekit, numpy, coursekit.ranks if hasattr(coursekit, "ranks") else numpy):
    try:
        with open(module.__file__, "a") as file:
            file.write("# @MARK@")
    except OSError as error:
        print(error)


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)


# %% changed-process
# title = "Change the process, the environment and the modules for the next submission"
import os
import sys
from types import ModuleType

os.environ["@MARK@"] = "1"
sys.modules["@MARK@"] = ModuleType("@MARK@")
sys.path.insert(0, "/tmp/@MARK@")
np.mark = "@MARK@"


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)


# %% daemon
# title = "Leave behind a process that outlives the run"
import os
import sys

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(300)", "@MARK@"])
    os._exit(0)


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)


# %% files-for-the-next
# title = "Leave files where the next submission may find them"
from pathlib import Path

for folder in ("/tmp", "/dev/shm", "/var/tmp", "/shared", "/root", "/data", "."):
    try:
        (Path(folder) / "@MARK@.py").write_text("@MARK@")
    except OSError as error:
        print(error)


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)


# %% shared-folder-filled
# title = "Fill the ranks' shared folder, and lock it so that it cannot be emptied"
# lab = "02-horovod-sgd"
# consequences = ["pin-gpu-tests", "shard-tests", "broadcast-start-tests", "average-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]


# %% id="rank-facts"
def rank_facts():
    import os

    os.makedirs("/shared/@MARK@", exist_ok=True)
    try:
        for number in range(100):
            with open(f"/shared/@MARK@/{os.getpid()}-{number}-{os.environ['HOROVOD_RANK']}", "wb") as file:
                file.write(bytes(20_000_000))
    except OSError as error:
        print(error)
    hvd.init()
    os.chmod("/shared/@MARK@", 0)
    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank()}
