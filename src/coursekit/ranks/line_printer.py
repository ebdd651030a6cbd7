"""Show what ranks print, line by line while they run, each line marked with its rank."""

from __future__ import annotations

import re
import sys

# TensorFlow logs as an error, once on each rank, that a CPU without AVX-512 handles 16-bit numbers differently.
REMARK = re.compile(rb"E0000 .* oneDNN supports DT_HALF only on platforms with ")
MAX_BYTES_PER_RANK = 1 << 20  # a notebook with more can hardly be opened again


class LinePrinter:
    """Print a rank's output line by line, each line marked with the rank; leave out a remark that nobody can act on.

    Everything goes to standard output, because nbgrader treats text on a notebook's standard error as a failure.
    """

    def __init__(self, rank: int, *, show: bool | int) -> None:
        self.rank = rank
        self.max_bytes = MAX_BYTES_PER_RANK if show is True else int(show)
        self._rest = b""
        self._num_bytes_left = self.max_bytes

    def feed(self, data: bytes) -> None:
        """Print the lines that `data` completes; empty `data` ends the last line."""
        if self._num_bytes_left <= 0:
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        if self._rest and (not data or len(self._rest) > self._num_bytes_left):
            lines.append(self._rest)
            self._rest = b""
        for line in lines:
            if self._num_bytes_left > 0 and not REMARK.match(line):
                print(f"[{self.rank}] {line[: self._num_bytes_left].decode(errors='replace')}")
                self._num_bytes_left -= len(line) + 1
        if self._num_bytes_left <= 0:
            print(f"[{self.rank}] … (more than {self.max_bytes >> 10} KiB; the rest is not shown)")
        if lines:
            sys.stdout.flush()
