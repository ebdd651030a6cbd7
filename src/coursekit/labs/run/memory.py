"""The peak memory of a process and of everything below it, sampled in a thread."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress

import psutil

SAMPLE_EVERY_S = 0.25
# Reading the page tables of large processes is slow; sampling never takes more than this share of one processor.
MAX_LOAD = 0.05
BYTES_PER_MB = 1e6


class MemoryWatch:
    """Samples of the memory of a process tree.

    Ranks are forked from one server and share most of their pages, so a sum of resident set sizes would count
    TensorFlow once per rank. The proportional set size (PSS, Linux) shares each page out among its users.
    A kernel that was forked shares pages with the server that forked it, whose part is counted as well.

    Attributes:
        peak_mb: Highest sum seen so far, in 10^6 bytes.
        seen: Every process that was ever found in the tree, also those whose parents have ended since.
    """

    def __init__(self, root: psutil.Process) -> None:
        self.peak_mb = 0.0
        self.seen: set[psutil.Process] = set()
        self._root = root
        self._servers = {parent for parent in [root.parent()] if parent and parent.pid != os.getpid()}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample_until_stopped, name="memory-watch", daemon=True)

    def start(self) -> None:
        """Take samples from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Stop sampling."""
        self._stop.set()
        self._thread.join()

    def sample(self) -> None:
        """Look once at all processes of the tree."""
        with self._lock:
            with suppress(psutil.NoSuchProcess):
                self.seen.update([self._root, *self._root.children(recursive=True)])
            self.peak_mb = max(self.peak_mb, sum(map(memory_bytes, self.seen | self._servers)) / BYTES_PER_MB)

    def _sample_until_stopped(self) -> None:
        pause_s = 0.0
        while not self._stop.wait(pause_s):
            started = time.thread_time()  # of its own: on a busy machine the clock would make pauses of seconds
            self.sample()
            pause_s = max(SAMPLE_EVERY_S, (time.thread_time() - started) / MAX_LOAD)


def memory_bytes(process: psutil.Process) -> int:
    """Return a process's share of memory in bytes: PSS where the system has it, else RSS; 0 once it has ended."""
    try:
        # Without this check a number that was given to a new process would be counted as the old one.
        if not process.is_running():
            return 0
        try:
            full = process.memory_full_info()
            return int(getattr(full, "pss", full.rss))
        except psutil.AccessDenied:
            return int(process.memory_info().rss)
    except psutil.Error:
        return 0
