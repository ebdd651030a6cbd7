"""Processes: signals to stop and to main threads, and the end of all that another one has started.

A kernel starts ranks, which may start processes of their own, in sessions of their own, whose parents may be gone.
A mark in the environment, inherited by all of them, finds those that no longer hang below the kernel.
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
HUGE_PAGE_BYTES = 2 << 20  # of x86-64, and of ARM with pages of 4 KiB
_MADV_COLLAPSE = 25  # Linux 6.1
SIGNAL_STATUS = 128  # a shell's exit status for what a signal has ended is this and the signal's number
INTERRUPTED_STATUS = SIGNAL_STATUS + signal.SIGINT  # after Ctrl-C
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Ending a kernel and its ranks takes a few seconds; an impatient second Ctrl-C must not cut that short.
TIDYING_S = 20.0

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
# The system call `tgkill`, by processor: the C library offers it since glibc 2.30 only.
_TGKILL = {"x86_64": 234, "aarch64": 131}.get(platform.machine())


class StopSignals:
    """Raise KeyboardInterrupt in the main thread for each signal that asks to stop; the first is in `received`."""

    def __init__(self) -> None:
        self.received: int | None = None
        self._last_s = float("-inf")

    @property
    def status(self) -> int:
        """The exit status of a command that stopped for this signal; without one, that after Ctrl-C."""
        return SIGNAL_STATUS + (self.received or signal.SIGINT)

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Raise during a `with` block, and leave signals as they were before."""
        # SIGHUP that nohup switched off stays off. SIGINT does not: a shell's script switches it off in what it starts
        # with `&`, and then nothing but a signal that cannot tidy up would end this.
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
    """Return 'SIGKILL' for 9, and 'SIGRTMIN+6' for a real-time signal, for which Python has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        above = number - signal.SIGRTMIN
        return f"SIGRTMIN+{above}" if 0 < above < signal.SIGRTMAX - signal.SIGRTMIN else f"signal {number}"


def end_all(processes: Iterable[psutil.Process]) -> None:
    """Ask processes to end, kill those that do not, and return when all are gone."""
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
    """Return the descendants of a process, none if it is gone."""
    try:
        return list(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def kill_below(pid: int) -> None:
    """Kill the descendants of a process, also those that they start meanwhile; give up after `KILL_GRACE_S`."""
    deadline_s = time.monotonic() + KILL_GRACE_S
    while alive := [process for process in below(pid) if is_alive(process)]:
        for process in alive:
            with suppress(psutil.Error):
                process.kill()
        if time.monotonic() > deadline_s:
            return
        time.sleep(0.01)


def marked_processes(folder: Path) -> set[psutil.Process]:
    """Return the live processes of any kernel that worked in this folder or in one below it."""
    return {process for process in psutil.process_iter() if _worked_in(process, str(folder))}


def end_marked(folder: Path) -> None:
    """End what any kernel that worked in this folder or below it left behind, also what is started while we look."""
    while remaining := marked_processes(folder):
        end_all(remaining)


def use_huge_pages() -> None:
    """Move this process's memory into huge pages where the kernel can, so that forks are cheaper (madvise(2)).

    A fork copies an entry for each page, and its end drops them again. Of a process with TensorFlow, 190 MB in pages of
    4 KiB are 48,000 entries; with 126 of them in 63 huge pages, a fork and its end took 6 ms instead of 13.
    A page that a child writes to is still copied alone. Older kernels refuse, and all stays as it is.
    """
    library = ctypes.CDLL(None)
    for line in Path("/proc/self/maps").read_text().splitlines():
        first, end, inode = re.match(r"(\w+)-(\w+) \S+ \S+ \S+ (\d+)", line).groups()  # type: ignore[union-attr]
        start = -(-int(first, 16) // HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES
        length = int(end, 16) // HUGE_PAGE_BYTES * HUGE_PAGE_BYTES - start
        if inode == "0" and length > 0:  # no file
            library.madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), _MADV_COLLAPSE)


def pss_bytes(pid: int) -> int:
    """Return the memory of a process, a page that n processes share counted as 1/n of it (PSS); 0 if it is gone.

    Ranks are forked from one server and share most of their pages: a sum of resident set sizes would count TensorFlow
    once for each of them.

    Raises:
        PermissionError: this account may not read it.
    """
    try:
        found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    except (ProcessLookupError, FileNotFoundError):
        return 0
    return int(found[1]) * 1024 if found else 0


def is_alive(process: psutil.Process) -> bool:
    """Return whether a process still does something; one that only waits to be buried does not."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _worked_in(process: psutil.Process, folder: str) -> bool:
    try:
        mark = process.environ().get(MARK, "")
    except (psutil.Error, OSError):  # other people's hide it, and are not ours
        return False
    ours = mark == folder or mark.startswith(folder + os.sep)
    return ours and process.pid != os.getpid() and is_alive(process)


def plain_environment() -> dict[str, str]:
    """Return the environment of daemons: nothing of a surrounding job, database or Slurm leaks into them."""
    return {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": os.environ.get("HOME", "/root"),
        "LANG": "C.UTF-8",
    }


def signal_main_thread(pid: int, number: int) -> None:
    """Send a signal to the main thread of a process; a `ProcessLookupError` says that it has ended.

    With `os.kill` the kernel takes another thread while the main one has a signal to handle. Python handles all signals
    in the main thread, which is not woken then: of two signals sent together the second may go unheard for long.
    """
    if _TGKILL is None:
        os.kill(pid, number)
    elif ctypes.CDLL(None, use_errno=True).syscall(_TGKILL, pid, pid, int(number)):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def has_ended(child: int) -> bool:
    """Whether a child of this process has ended; one that has is waited for."""
    try:
        return os.waitpid(child, os.WNOHANG)[0] == child
    except ChildProcessError:  # somebody else has waited for it
        return True


def end_with_parent() -> None:
    """Have this process killed as soon as the thread that started it ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of whatever descendants leave behind, so that it can be found and ended."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def kill_descendants() -> None:
    """Kill and reap everything below this process, which has adopted its orphans."""
    while children := psutil.Process().children(recursive=True):
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.kill()
        # Wait for one at a time: a process that was just being forked is not in the list and would not end.
        with suppress(ChildProcessError):
            os.waitpid(-1, 0)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
