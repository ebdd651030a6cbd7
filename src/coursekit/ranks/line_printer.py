"""Show what ranks print while they run, line by line; each line is marked with its rank."""

from __future__ import annotations

import re
import sys

# On a CPU without AVX-512, TensorFlow logs an error on each rank: it says that 16-bit numbers are handled differently.
REMARK = re.compile(rb"E0000 .* oneDNN supports DT_HALF only on platforms with ")
MAX_BYTES_PER_RANK = 1 << 20  # a notebook with more output can hardly be opened again


class LinePrinter:
    """Prints a rank's output line by line, marked with the rank; it leaves out a remark that nobody can act on.

    All text goes to standard output, because nbgrader treats text on a notebook's standard error as a failure.
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
