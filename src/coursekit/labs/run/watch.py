"""Watch a lab's kernel: its current cell, its time limit, and the memory that it and its descendants use."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from coursekit.corrected_time import CorrectedClock, Deadline, TooSlowError, tree
from coursekit.labs.cells import GOES_ON, cell_name
from coursekit.processes import pss_bytes
from coursekit.ranks.explain import MachineTooSlowError

KERNEL_LOG = "kernel.log"  # the output of the kernel itself, in its working folder
# An interrupted cell may have to stop ranks before its traceback appears.
INTERRUPT_GRACE_S = 10.0
SAMPLE_EVERY_S = 1.0
# Reading the page tables of large processes is slow: it may use at most one out of this many seconds of a core.
SAMPLE_AGAIN = 20
BYTES_PER_MB = 1e6


def _memory_bytes(process: psutil.Process) -> int:
    """Return a process's share of memory in bytes, or all its memory if the share is unknown; 0 once it has ended."""
    with suppress(psutil.Error):
        if process.is_running():  # otherwise its number may belong to a new process
            with suppress(OSError):
                return pss_bytes(process.pid)
            return int(process.memory_info().rss)
    return 0


@dataclass
class KernelWatch:
    """The state of one lab's kernel while it runs and afterwards.

    papermill reports when a cell starts, when the kernel answers for it, and when it fails. A thread enforces the time
    limit, because nbclient's own `timeout` applies to single cells and also counts the time in which a busy machine
    does not run the kernel. Example of a run with three cells:

        cell 1 starts, is answered   number 1, finished
        cell 2 starts                number 2; it is interrupted at the time limit: overdue
        cell 2 fails, is answered    failed, stopped_early; cell 3 never starts, unless the run continues after errors
    """

    folder: Path  # working folder of the kernel
    # In seconds of corrected time of the kernel and its descendants, from its first answer until it is interrupted.
    time_limit_s: float
    on_cell: Callable[[int, int, str], None]  # called with the number, total and name of each code cell that starts
    goes_on: bool = False  # whether the run continues after errors
    total: int = 0  # number of code cells
    current: NotebookNode | None = None  # the code cell that is running or ran last; None before the first cell
    number: int = 0  # its position among the code cells, counted from 1
    # Ids of the cells that the kernel reported as done, with or without an error.
    finished: set[str] = field(default_factory=set)
    failed: bool = False  # whether the run was stopped by an error in `current`
    raised: list[tuple[int, NotebookNode]] = field(default_factory=list)  # number and cell of each ignored error
    overdue: bool = False  # whether the time limit has passed
    too_slow: str = ""  # why the machine, not the lab, caused the interrupt; '' if it did not
    peak_memory_mb: float = 0.0  # highest sum over the kernel and its descendants, in 10^6 bytes
    # The kernel and every descendant that was ever found, including processes whose parents have since ended.
    seen: set[psutil.Process] = field(default_factory=set)
    _kernel: psutil.Process | None = None
    _thread: threading.Thread | None = None
    _stopped: threading.Event = field(default_factory=threading.Event)
    _sampling: threading.Lock = field(default_factory=threading.Lock)

    @property
    def stopped_early(self) -> bool:
        """Whether a cell stopped the run with an error, was never started, or never got the kernel's answer."""
        return self.failed or self.number < self.total or len(self.finished) < self.number

    def kernel_started(self, pid: int, notebook: NotebookNode) -> None:
        """Start measuring memory and time."""
        self.total = sum(cell.cell_type == "code" and bool(cell.source.strip()) for cell in notebook.cells)
        self._kernel = psutil.Process(pid)
        self._thread = threading.Thread(target=self._keep_time, args=[self._kernel], name="kernel-watch", daemon=True)
        self._thread.start()

    def cell_started(self, cell: NotebookNode, **_: Any) -> None:
        """Record which cell is running."""
        self.current = cell
        self.number += 1
        self.on_cell(self.number, self.total, cell_name(cell))

    def cell_finished(self, cell: NotebookNode, **_: Any) -> None:
        """Record that the kernel has answered for a cell."""
        self.finished.add(cell.id)
        if self.number == self.total:  # the kernel ends next, and on a busy machine the last sample may be old
            self._sample_memory()

    def cell_failed(self, cell: NotebookNode, execute_reply: dict[str, Any], **_: Any) -> None:
        """Record a cell's error, and stop the run unless it continues after errors; ignore errors that are intended.

        Raises:
            CellExecutionError: the run stops, as it always does after its time limit or on a machine that is too slow.
        """
        tags = cell.metadata.get("tags", [])
        if GOES_ON[0] in tags and GOES_ON[1] not in tags:
            return
        reply = execute_reply["content"]
        if self.goes_on and not self.overdue and reply["ename"] != MachineTooSlowError.__name__:
            self.raised.append((self.number, cell))
            return
        self.failed = True
        self._sample_memory()
        raise CellExecutionError.from_cell_and_msg(cell, reply)

    def stop(self) -> set[psutil.Process]:
        """Stop measuring, and return all processes that were seen."""
        self._stopped.set()
        if self._thread:
            self._thread.join()
        return self.seen

    def _sample_memory(self) -> None:
        with self._sampling, suppress(psutil.NoSuchProcess):
            if self._kernel:
                self.seen.update([self._kernel, *self._kernel.children(recursive=True)])
                self.peak_memory_mb = max(self.peak_memory_mb, sum(map(_memory_bytes, self.seen)) / BYTES_PER_MB)

    def _keep_time(self, kernel: psutil.Process) -> None:
        # Also count this process, which sends the cells: if it is held up, the kernel waits for it.
        clock = CorrectedClock(lambda: [os.getpid(), *tree(kernel.pid)])
        if self._is_over(Deadline(self.time_limit_s, clock.tick)):
            self.overdue = True
            # Signal the whole group, as Jupyter's stop button does: a cell may wait for a command that it has started.
            with suppress(psutil.Error, ProcessLookupError):
                if kernel.is_running():
                    os.killpg(os.getpgid(kernel.pid), signal.SIGINT)
            if self._is_over(Deadline(INTERRUPT_GRACE_S, clock.tick)):
                with suppress(psutil.NoSuchProcess):
                    kernel.kill()

    def _is_over(self, deadline: Deadline) -> bool:
        """Sample memory until a deadline, or until this watch is stopped; return whether the deadline has passed."""
        due_s = time.monotonic()
        try:
            while left_s := deadline.left_s():  # this checks the clock more often than memory needs to be sampled
                if time.monotonic() >= due_s:
                    begin_s = time.thread_time()
                    self._sample_memory()
                    taken_s = time.thread_time() - begin_s
                    due_s = time.monotonic() + max(SAMPLE_EVERY_S, SAMPLE_AGAIN * taken_s)
                if self._stopped.wait(left_s):
                    return False
        except TooSlowError as error:
            self.too_slow = str(error)
        return True
