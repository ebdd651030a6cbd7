"""The watch over a submission's processes: what it counts, what it kills, what it says."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from coursekit import corrected_time
from coursekit.errors import codes_in
from coursekit.grading.isolation.watcher import Watcher, proportional_bytes, stored_in_memory

from .inside import say, start

PLENTY = {"memory_bytes": 1 << 40, "num_processes": 1000, "num_files": 1 << 30, "own_s": 600}
END_TIMEOUT_S = 600
# The launcher starts what its argument says, tells its exit status once all below it have ended, and outlives them.
# As in a sandbox, a process that loses its parent comes to it (PR_SET_CHILD_SUBREAPER).
LAUNCHER = """
import ctypes, os, subprocess, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]])
status = child.wait()
try:
    while True:
        os.wait()
except ChildProcessError:
    print(status, flush=True)
time.sleep(3600)
"""
# Four processes that share 200 MB, until they are told to end.
SHARING = """
import os, signal, sys
data = bytearray(200_000_000)
children = []
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        sys.stdin.read()
        os._exit(0)
    children.append(pid)
print("up", flush=True)
for pid in children:
    os.waitpid(pid, 0)
"""

# The same, but once the children are told, each writes to its memory, and says so: the kernel copies what they shared.
COPYING = SHARING.replace(
    "sys.stdin.read()", "sys.stdin.read(); data[::4096] = bytes(len(data[::4096])); signal.pause()"
)


def wait_until(condition):
    """Return when the condition holds, or fail."""
    deadline_s = time.monotonic() + END_TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


class Launcher:
    """A process that starts a program as a launcher starts a submission."""

    def __init__(self, code):
        words = [sys.executable, "-c", LAUNCHER, code]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for process in [*psutil.Process(self.process.pid).children(recursive=True), self.process]:
            with suppress(psutil.NoSuchProcess):  # it ended between the two questions
                process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def watch(self, **limits):
        """Watch it; return the watcher and the exit status of what the launcher started."""
        pid = self.process.pid
        with Watcher(pid, lambda: pid, **{**PLENTY, **limits}) as watcher:
            status = int(self.process.stdout.readline())
        return watcher, status


@pytest.mark.parametrize(
    ("code", "limits", "excess"),
    [
        (
            "import time; data = bytearray(300_000_000); time.sleep(3600)",
            {"memory_bytes": 200_000_000},
            r".*0\.[23] GB .* 0\.2 GB .* \[limit\.memory\]",
        ),
        (
            "import os, time; [os.fork() for _ in range(4)]; time.sleep(3600)",
            {"num_processes": 10},
            r".* 1\d .* 10 .* \[limit\.processes\]",
        ),
        (
            "import time; time.sleep(3600)",
            {"num_files": -1},
            r".* 0 .* -1 .* \[limit\.files\]",
        ),
        ("import time; time.sleep(3600)", {"own_s": 1}, r".* 1 s \[limit\.time\]"),
    ],
)
def test_excess_is_killed_and_said(code, limits, excess):
    """Memory, processes, files or time: all below the launcher are killed, the launcher is not."""
    with Launcher(code) as launcher:
        watcher, status = launcher.watch(**limits)
        assert (status, watcher.fault) == (-9, "")
        assert re.fullmatch(excess, watcher.excess)
        assert launcher.process.poll() is None
        assert psutil.Process(launcher.process.pid).children(recursive=True) == []


def test_shared_memory_counts_once():
    """Four processes with the same 200 MB use 200 MB: below a limit that the sum of their resident memory exceeds."""
    with Launcher(SHARING) as launcher:
        pid = launcher.process.pid
        assert launcher.process.stdout.readline() == "up\n"  # a page that is copied while one looks would count twice
        with Watcher(pid, lambda: pid, **{**PLENTY, "memory_bytes": 400_000_000}) as watcher:
            wait_until(lambda: watcher.peak_memory_bytes or watcher.excess)
            launcher.process.stdin.close()
            assert launcher.process.stdout.readline() == "0\n"
    assert watcher.excess == ""
    assert 200_000_000 < watcher.peak_memory_bytes < 300_000_000


def test_shared_memory_that_is_copied_counts_again():
    """Four processes that each write to the 200 MB that they share use 800 MB then; no more is resident than before."""
    with Launcher(COPYING) as launcher:
        pid = launcher.process.pid
        assert launcher.process.stdout.readline() == "up\n"
        with Watcher(pid, lambda: pid, **{**PLENTY, "memory_bytes": 500_000_000}) as watcher:
            wait_until(lambda: watcher.peak_memory_bytes or watcher.excess)
            assert watcher.excess == ""
            launcher.process.stdin.close()
            assert launcher.process.stdout.readline() == "-9\n"
    assert re.fullmatch(r".*0\.[5-9] GB .* 0\.5 GB .* \[limit\.memory\]", watcher.excess)


def test_nobody_is_killed_before_it_is_known_who_may_be():
    """As long as the caller names no process, the excess is remembered, and acted on as soon as it does."""
    with Launcher("import time; time.sleep(3600)") as launcher:
        pid = launcher.process.pid
        named = []
        asked = []

        def may_be_killed():
            asked.append(None)
            return named[0] if named else None

        with Watcher(pid, may_be_killed, **{**PLENTY, "own_s": 0}) as watcher:
            wait_until(psutil.Process(pid).children)
            num_asked = len(asked)
            wait_until(lambda: len(asked) > num_asked + 3)
            assert watcher.excess
            assert len(psutil.Process(pid).children()) == 1
            named.append(pid)
            assert int(launcher.process.stdout.readline()) == -9


def test_a_watch_that_fails_lets_nothing_run():
    """An error in the watch itself is a fault of ours, and ends what it should have watched."""
    with Launcher("import time; time.sleep(3600)") as launcher:
        pid = launcher.process.pid
        with Watcher(pid, lambda: pid, **{**PLENTY, "num_processes": None}) as watcher:
            assert int(launcher.process.stdout.readline()) == -9
        assert watcher.excess == ""
        assert "(TypeError: " in watcher.fault


def test_a_machine_without_time_is_a_fault(monkeypatch):
    """When the last resort in wall-clock time has passed, all is killed, and it is not what ran that used too much."""
    monkeypatch.setattr(corrected_time, "longest_wall_s", lambda _: 1.0)
    with Launcher("import time; time.sleep(3600)") as launcher:
        watcher, status = launcher.watch()
    assert (status, watcher.excess) == (-9, "")
    assert codes_in(watcher.fault) == ["machine.too-slow"]
    assert re.findall(r"\b(?:1|600) s\b", watcher.fault) == ["1 s", "600 s"]


def test_a_process_that_is_gone_uses_nothing():
    """Processes end while one looks."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert proportional_bytes(ended.pid) == 0


def test_files_in_memory_count(sandbox):
    """Bytes and files in the private folders of an isolated process are seen from outside; those of this one not."""

    def store():
        def fill(tell):
            for number in range(100):
                Path(f"/dev/shm/{number}").touch()  # noqa: S108  # the sandbox's own
            Path("/tmp/x").write_bytes(bytes(8 << 20))  # noqa: S108  # the sandbox's own
            say(tell, "full")
            time.sleep(600)

        _, said = start(fill, tmp_bytes=16 << 20, num_files=1000)
        said.readline()
        print("full", flush=True)
        time.sleep(600)

    with sandbox.start(store) as process:
        try:
            assert process.stdout.readline() == "full\n"
            pids = [child.pid for child in psutil.Process(process.pid).children(recursive=True)]
            found = sorted(stored_in_memory(pids))
        finally:
            process.kill()
    assert [number for _, number in found if number > 100] == [101]
    assert [size for size, _ in found if size] == [8 << 20]
    assert max(stored_in_memory([os.getpid()])) == (0, 0)


def as_nobody(function):
    """Return what a function returns in a process of an ordinary account."""
    listen, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            os.write(tell, json.dumps(function()).encode())
        finally:
            os._exit(0)
    os.close(tell)
    with os.fdopen(listen) as said:
        told = said.read()
    os.waitpid(pid, 0)
    return json.loads(told)


@pytest.mark.skipif(
    os.getuid() != 0, reason="needs root, who alone can make a program that others may run but not read"
)
def test_memory_that_cannot_be_read_counts_in_full(kit, ordinary_sandbox):
    """A grader that is not root may not look into a process that runs a program which it may not read."""

    def hide():
        fill = "import time; data = bytes(range(256)) * 400_000; print('full', flush=True); time.sleep(600)"
        start(lambda _: os.execv("/kit/unreadable", ["python3", "-c", fill]))  # noqa: S606
        time.sleep(600)

    program = Path(shutil.copy("/usr/bin/python3", kit / "unreadable"))
    program.chmod(0o111)
    with ordinary_sandbox.start(hide) as process:
        try:
            assert process.stdout.readline() == "full\n"
            pids = [child.pid for child in psutil.Process(process.pid).children(recursive=True)]
            sizes = as_nobody(lambda: [proportional_bytes(pid) for pid in pids])
        finally:
            process.kill()
            program.unlink()
    assert max(sizes) > 100_000_000
    assert sum(size > 50_000_000 for size in sizes) == 1
