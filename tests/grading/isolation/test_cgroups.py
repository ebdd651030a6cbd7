"""Cgroups of a slot, where this account may make them: the kernel's own limits for all processes together."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coursekit.grading.isolation.cgroups import BUFFER_BYTES, cgroup, seen_at

MEGABYTE = 1 << 20
NO_CGROUP = "needs root with cgroups of version 1, or a delegated cgroup: systemd-run --scope -p Delegate=yes"
SLEEPERS = """
import os, time
for number in range(30):
    try:
        pid = os.fork()
    except OSError:
        print(number, flush=True)
        break
    if pid == 0:
        os.setsid()
        os.close(1)
        time.sleep(3600)
        os._exit(0)
"""

SENDERS = """
import contextlib, socket
server = socket.create_server(("127.0.0.1", 0))
ends, num_bytes = [], 0
for _ in range(200):
    ours = socket.create_connection(server.getsockname())
    ends += [ours, server.accept()[0]]
    ours.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            num_bytes += ours.send(bytes(1 << 16))
print(num_bytes)
"""


def peak_memory_bytes(slot):
    """Return the most memory used, files in /tmp and the page cache included."""
    return int((slot.memory / ("memory.max_usage_in_bytes" if slot.version == 1 else "memory.peak")).read_text())


def num_refused_processes(slot):
    """Return how often the kernel has refused to start another process."""
    return int(re.search(r"^max (\d+)$", (slot.pids / "pids.events").read_text(), re.MULTILINE).group(1))


@pytest.fixture
def slot():
    """Return a cgroup of 200 MB and 16 processes."""
    with cgroup(200 * MEGABYTE, 16) as made:
        if made is None:
            pytest.skip(NO_CGROUP)
        yield made


def test_too_much_memory_is_killed(slot):
    """The kernel kills a process that needs more, and counts it; the peak is the limit."""
    done = subprocess.run(slot.inside([sys.executable, "-c", f"bytearray({400 * MEGABYTE})"]), check=False)
    assert done.returncode == -9
    assert slot.num_killed_for_memory == 1
    assert peak_memory_bytes(slot) == 200 * MEGABYTE


def test_buffers_of_connections_are_bounded(slot):
    """What is sent and never read fills them; with version 2 they count as memory."""
    if slot.version != 1:
        pytest.skip("version 1 counts them apart")
    done = subprocess.run(slot.inside([sys.executable, "-c", SENDERS]), stdout=subprocess.PIPE, text=True, check=False)
    usage = int((slot.memory / "memory.kmem.tcp.max_usage_in_bytes").read_text())
    assert (done.returncode, int(done.stdout) > 10 * MEGABYTE) == (0, True)
    assert usage < 2 * BUFFER_BYTES  # each may have a little in any case; without a limit it is six times this


def test_enough_memory_is_not(slot):
    """What fits runs, and nothing is counted."""
    done = subprocess.run(slot.inside([sys.executable, "-c", f"bytearray({50 * MEGABYTE})"]), check=False)
    assert done.returncode == 0
    assert (slot.num_killed_for_memory, num_refused_processes(slot)) == (0, 0)
    assert 50 * MEGABYTE < peak_memory_bytes(slot) < 150 * MEGABYTE


def test_a_fork_bomb_is_bounded_and_killed(slot):
    """Also for root: 16 processes and no more; all of them are killed, whatever sessions they are in."""
    done = subprocess.run(slot.inside([sys.executable, "-c", SLEEPERS]), stdout=subprocess.PIPE, text=True, check=False)
    assert done.stdout == "15\n"
    assert num_refused_processes(slot) == 1
    assert len(slot.processes()) == 15
    slot.remove()
    assert slot.processes() == set()


def test_nothing_is_left():
    """At the end the processes are dead and the folders gone."""
    with cgroup(200 * MEGABYTE, 16) as made:
        if made is None:
            pytest.skip(NO_CGROUP)
        process = subprocess.Popen(made.inside(["sleep", "3600"]))
        deadline_s = time.monotonic() + 300
        while process.pid not in made.processes() and time.monotonic() < deadline_s:
            time.sleep(0.01)
    assert process.wait(300) == -9
    assert [folder for folder in made.folders if folder.exists()] == []


def test_what_a_killed_grader_left_is_removed(slot):
    """The next cgroup's maker finds the folders and processes of one that was killed."""
    del slot  # cgroups can be made here
    code = (
        "import os, subprocess, sys; from coursekit.grading.isolation import cgroups; made = cgroups.make()\n"
        "subprocess.Popen(made.inside(['sleep', '3600']), stdout=subprocess.DEVNULL)\n"
        "print(*(folder for folder in made.folders if folder.is_dir()), len(made.folders), flush=True)\n"
        "os.kill(os.getpid(), 9)"  # from now on, whoever makes a cgroup on this machine removes them
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=False)
    *words, num_folders = done.stdout.split()
    folders = [Path(word) for word in words]
    assert (done.returncode, len(folders)) == (-9, int(num_folders))
    with cgroup(200 * MEGABYTE, 16):
        assert [folder for folder in folders if folder.exists()] == []


def test_own_cgroup_is_found_below_its_mount(tmp_path):
    """A container sees a part of the tree: paths count from there, and what is not below is the mount itself."""
    (tmp_path / "slice").mkdir()
    assert seen_at("/", tmp_path, "/slice") == tmp_path / "slice"
    assert seen_at("/docker/x", tmp_path, "/docker/x/slice") == tmp_path / "slice"
    assert seen_at("/docker/x", tmp_path, "/other") == tmp_path
