"""Handle stop signals, send signals to main threads, and end everything that a process has started.

A kernel starts ranks, which may start more processes. These may be in other sessions, and their parents may have ended.
All of them inherit a mark in the environment, so the kit finds them even if they no longer descend from the kernel.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import psutil

MARK = "COURSEKIT_RUN_FOLDER"
TERMINATE_GRACE_S = 3.0
KILL_GRACE_S = 5.0
HUGE_PAGE_BYTES = 2 << 20  # on x86-64, and on ARM if pages have 4 KiB
_MADV_COLLAPSE = 25  # Linux 6.1
SIGNAL_STATUS = 128  # if a signal ended a command, a shell's exit status is this plus the signal's number
INTERRUPTED_STATUS = SIGNAL_STATUS + signal.SIGINT  # after Ctrl-C
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Ending a kernel and its ranks takes a few seconds; an impatient second Ctrl-C must not cut that short.
TIDYING_S = 20.0

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
# The number of the system call `tgkill`, by architecture: the C library offers it only since glibc 2.30.
_TGKILL = {"x86_64": 234, "aarch64": 131}.get(platform.machine())


class StopSignals:
    """Raises KeyboardInterrupt when a signal asks this process to stop; `received` is the first such signal."""

    def __init__(self) -> None:
        self.received: int | None = None
        self._last_s = float("-inf")

    @property
    def status(self) -> int:
        """The exit status for a command that the received signal stopped or, if there was none, that Ctrl-C stopped."""
        return SIGNAL_STATUS + (self.received or signal.SIGINT)

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Turn signals into KeyboardInterrupt within a `with` block, and then restore the earlier handlers."""
        # If nohup has made this process ignore SIGHUP, we keep it so, but we never ignore SIGINT: a shell script makes
        # commands that it starts with `&` ignore SIGINT, and then only SIGKILL, which allows no tidying up, would work.
        awake = [n for n in STOPPING if n != signal.SIGHUP or signal.getsignal(n) is not signal.SIG_IGN]
        before = [(number, signal.signal(number, self._on_signal)) for number in awake]
        try:
            yield
        finally:
            for number, handler in before:
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.received = self.received or number
        if time.monotonic() - self._last_s < TIDYING_S:
            return
        self._last_s = time.monotonic()
        raise KeyboardInterrupt


def signal_name(number: int) -> str:
    """Return a signal's name: 'SIGKILL' for 9, or 'SIGRTMIN+6' for a real-time signal, which Python does not name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        above = number - signal.SIGRTMIN
        return f"SIGRTMIN+{above}" if 0 < above < signal.SIGRTMAX - signal.SIGRTMIN else f"signal {number}"


def end_all(processes: Iterable[psutil.Process]) -> None:
    """Ask processes to end, kill those that do not, and return when all have ended."""
    alive = [process for process in processes if is_alive(process)]
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, alive = psutil.wait_procs(alive, timeout=TERMINATE_GRACE_S) if alive else ([], [])
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs([process for process in alive if is_alive(process)], timeout=KILL_GRACE_S)


def below(pid: int) -> list[psutil.Process]:
    """Return the descendants of a process; an empty list if the process has ended."""
    try:
        return list(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def kill_below(pid: int) -> None:
    """Kill the descendants of a process, and any processes that they start meanwhile; give up after `KILL_GRACE_S`."""
    deadline_s = time.monotonic() + KILL_GRACE_S
    while alive := [process for process in below(pid) if is_alive(process)]:
        for process in alive:
            with suppress(psutil.Error):
                process.kill()
        if time.monotonic() > deadline_s:
            return
        time.sleep(0.01)


def marked_processes(folder: Path) -> set[psutil.Process]:
    """Return the live processes of all kernels that worked in this folder or below it."""
    return {process for process in psutil.process_iter() if _worked_in(process, str(folder))}


def end_marked(folder: Path) -> None:
    """End all remaining processes of kernels that worked in this folder or below it, and any that start meanwhile."""
    while remaining := marked_processes(folder):
        end_all(remaining)


def use_huge_pages() -> None:
    """Move this process's memory into huge pages if the kernel can, so that forks become cheaper (madvise(2)).

    A fork copies one entry per page, and these entries are dropped when the child ends. A process with TensorFlow has
    190 MB in pages of 4 KiB, or 48,000 entries. With 126 MB of this in 63 huge pages, forking and ending a child took
    6 ms instead of 13. As before, if a child writes to a page, only that page is copied. On older Linux kernels, the
    call fails, and nothing changes.
    """
    library = ctypes.CDLL(None)
    for line in Path("/proc/self/maps").read_text().splitlines():
        first, end, inode = re.match(r"(\w+)-(\w+) \S+ \S+ \S+ (\d+)", line).groups()  # type: ignore[union-attr]
        start = -(-int(first, 16) // HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES
        length = int(end, 16) // HUGE_PAGE_BYTES * HUGE_PAGE_BYTES - start
        if inode == "0" and length > 0:  # not a file
            library.madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), _MADV_COLLAPSE)


def pss_bytes(pid: int) -> int:
    """Return a process's memory in bytes, counting 1/n of each page that n processes share (PSS); 0 if it has ended.

    Ranks are forked from one server and share most of their pages, so a sum of resident set sizes would count
    TensorFlow once per rank.

    Raises:
        PermissionError: this account is not allowed to read the memory of that process.
    """
    try:
        found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    except (ProcessLookupError, FileNotFoundError):
        return 0
    return int(found[1]) * 1024 if found else 0


def is_alive(process: psutil.Process) -> bool:
    """Return whether a process is alive; a zombie, which only waits to be reaped, does not count as alive."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _worked_in(process: psutil.Process, folder: str) -> bool:
    try:
        mark = process.environ().get(MARK, "")
    except (psutil.Error, OSError):  # it is hidden in other users' processes, which we did not start anyway
        return False
    ours = mark == folder or mark.startswith(folder + os.sep)
    return ours and process.pid != os.getpid() and is_alive(process)


def plain_environment() -> dict[str, str]:
    """Return an environment for daemons without any variable of this process that could affect them."""
    return {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": os.environ.get("HOME", "/root"),
        "LANG": "C.UTF-8",
    }


def signal_main_thread(pid: int, number: int) -> None:
    """Send a signal to the main thread of a process; raise a `ProcessLookupError` if it has ended.

    With `os.kill`, Linux delivers a signal to another thread while the main thread still has a signal to handle. Python
    handles all signals in the main thread, which is not woken in this case. So if two signals arrive together, the
    second may go unnoticed for a long time.
    """
    if _TGKILL is None:
        os.kill(pid, number)
    elif ctypes.CDLL(None, use_errno=True).syscall(_TGKILL, pid, pid, int(number)):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def has_ended(child: int) -> bool:
    """Return whether a child of this process has ended; reap it if it has."""
    try:
        return os.waitpid(child, os.WNOHANG)[0] == child
    except ChildProcessError:  # something else has reaped it
        return True


def end_with_parent() -> None:
    """Make Linux kill this process as soon as the thread that started it ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, so that they can be found and ended."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def kill_descendants() -> None:
    """Kill and reap all descendants of this process, which must have called `adopt_orphans` before."""
    while children := psutil.Process().children(recursive=True):
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.kill()
        # Wait for only one process before listing again: a process that was just being forked was not in this list.
        with suppress(ChildProcessError):
            os.waitpid(-1, 0)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
