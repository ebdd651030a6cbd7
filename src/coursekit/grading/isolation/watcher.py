"""Watch the processes of one submission from outside the sandbox, because rlimits apply only to single processes.

Forked processes share TensorFlow's memory pages, so the watcher counts for each process the kernel's proportional share
(PSS). To this it adds the files in the in-memory folders that the processes see. Memory of any other kind, such as
System V segments, cannot be created (see `system`).
"""

from __future__ import annotations

import math
import os
import re
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import psutil

from coursekit.corrected_time import CorrectedClock, Deadline, TooSlowError, tree
from coursekit.errors import Cause
from coursekit.grading.isolation.sandbox import HIDDEN
from coursekit.processes import kill_below, pss_bytes

INTERVAL_S = 0.2
MEASURE_AGAIN = 1.5  # shares are slow to read: read them only if resident memory has grown this much
# While resident memory exceeds the limit, the shares could reach the limit unnoticed, but no faster than cores copy
# shared pages. Each core copies 1.2 to 1.3 GB/s; this was measured with one and with two processes that wrote to 1 GB
# shared with their parent.
COPIED_BYTES_PER_S = 1.5e9 * (os.cpu_count() or 1)


class Watcher:
    """A thread that measures the descendants of a process, and kills them if they use too much."""

    def __init__(  # noqa: PLR0913  # one argument per limit
        self,
        pid: int,
        may_be_killed: Callable[[], int | None],  # the process whose descendants may be killed, or None
        *,
        memory_bytes: int,  # for all together; shared pages count once, and files in memory also count
        num_processes: int,  # at once
        num_files: int,  # files and folders in one in-memory folder
        own_s: float,  # corrected time (`coursekit.corrected_time`) from the start of the watch
    ) -> None:
        self.excess = ""  # a sentence about the limit that was exceeded, with its code
        self.fault = ""  # why the watch failed, or the machine was too slow: the run is killed and must be repeated
        self.own_s = 0.0  # corrected time of this process and the watched processes since the start
        self.peak_memory_bytes = 0
        self._pid = pid
        self._may_be_killed = may_be_killed
        self._memory_bytes, self._num_processes, self._num_files = memory_bytes, num_processes, num_files
        self._limit_s = own_s
        self._highest = 0
        self._measured = (-math.inf, 0, 0)  # the time, the memory and the resident memory of the last measurement
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watcher", daemon=True)
        self._pids: list[int] = []

    def __enter__(self) -> Watcher:  # noqa: PYI034  # `Self` needs Python 3.11
        # Also count this process: the watched processes wait for its requests, so anything that delays it also delays
        # them.
        self._clock = CorrectedClock(lambda: [os.getpid(), *self._pids])
        self._deadline = Deadline(self._limit_s, lambda: self.own_s)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        try:
            while not self.excess:
                self.excess = str(self._look() or "")
                if not self.excess and self._end.wait(INTERVAL_S):
                    return
        except TooSlowError as error:
            self.fault = str(error)
        except Exception as error:  # noqa: BLE001  # nothing may run without a watch
            self.fault = f"the watch over memory and processes failed ({type(error).__name__}: {error})"
        while True:
            self._look_at_clock(tree(self._pid)[1:])
            root = self._may_be_killed()
            if root is not None:
                kill_below(root)
            if self._end.wait(INTERVAL_S):  # until the end, new processes are also killed
                return

    def _look(self) -> Cause | None:
        """If the processes exceed a limit now, return the cause for killing them; otherwise, return None."""
        pids = tree(self._pid)[1:]
        if len(pids) > self._num_processes:
            return Cause(f"it ran {len(pids)} processes at once; {self._num_processes} are allowed", "limit.processes")
        stored = stored_in_memory(pids)
        num_files = max((number for _, number in stored), default=0)
        if num_files > self._num_files:
            return Cause(
                f"it had {num_files} files in one in-memory folder; {self._num_files} are allowed", "limit.files"
            )
        memory = self._used_bytes(pids, sum(num_bytes for num_bytes, _ in stored))
        if memory > self._memory_bytes:
            allowed = f"{self._memory_bytes / 1e9:.1f} GB are allowed"
            return Cause(f"it used {memory / 1e9:.1f} GB of memory; {allowed}", "limit.memory")
        self._look_at_clock(pids)
        if self._deadline.left_s():
            return None
        return Cause(f"it ran for longer than {self._limit_s:.0f} s", "limit.time")

    def _look_at_clock(self, pids: list[int]) -> None:
        self._pids = pids
        self.own_s = self._clock.tick()

    def _used_bytes(self, pids: list[int], stored_bytes: int) -> int:
        """Return the memory in use, and record the peak; return 0 if it cannot exceed the limit and has grown little.

        In that case, the shares are not read, because reading them is slow.
        """
        # Resident memory counts shared pages once for each process, so it is an upper bound, and it is cheap to read.
        resident = stored_bytes + sum(map(_resident_bytes, pids))
        then, memory, resident_then = self._measured
        unseen = COPIED_BYTES_PER_S * (time.monotonic() - then)
        most = min(resident, memory + max(0, resident - resident_then) + unseen)
        has_grown = resident > max(self.peak_memory_bytes, MEASURE_AGAIN * self._highest)
        if not has_grown and most <= self._memory_bytes:
            return 0
        self._highest = max(self._highest, resident)
        memory = stored_bytes + sum(map(proportional_bytes, pids))
        self.peak_memory_bytes = max(self.peak_memory_bytes, memory)
        self._measured = (time.monotonic(), memory, resident)
        return memory


def stored_in_memory(pids: Iterable[int]) -> list[tuple[int, int]]:
    """Return the number of bytes and of files in each in-memory folder that these processes see.

    Folders that the watcher's process also sees are left out.
    """
    found = {Path(folder).stat().st_dev: (0, 0) for folder in HIDDEN if Path(folder).exists()}
    for path in (Path(f"/proc/{pid}/root{folder}") for pid in pids for folder in HIDDEN):
        with suppress(OSError):  # the process has ended, or has no such folder
            device = path.stat().st_dev
            if device not in found:
                space = os.statvfs(path)
                found[device] = (space.f_blocks - space.f_bfree) * space.f_frsize, space.f_files - space.f_ffree
    return list(found.values())


def proportional_bytes(pid: int) -> int:
    """Return the memory of a process in bytes, as `pss_bytes` does.

    If a process runs a program that its account may not read, its shares cannot be read; then all of its resident
    memory counts.
    """
    try:
        return pss_bytes(pid)
    except PermissionError:
        return _resident_bytes(pid) if _is_isolated(pid) else 0


def _is_isolated(pid: int) -> bool:
    """Return whether a process is an isolated one, which runs student code.

    Other processes, such as waiters, are trusted; they hide their memory, and share most of it.
    """
    ids, own = _ids(pid), _ids(os.getpid())
    return len(ids) > len(own) + 1 and ids[-1] != "1"  # in a namespace within the sandbox's, but not its first process


def _ids(pid: int) -> list[str]:
    """Return the process's number in each PID namespace that contains it, from this process's namespace inwards."""
    with suppress(OSError):
        found = re.findall(r"^NSpid:(.*)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
        return " ".join(found).split()
    return []


def _resident_bytes(pid: int) -> int:
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0
