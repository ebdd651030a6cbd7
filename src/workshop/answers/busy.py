"""Processors that have other things to do: what a verdict must not depend on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# Each loop looks now and then whether the one who started it is still there, so that none is left when that is killed.
LOOP = """
import os, sys
while os.getppid() == int(sys.argv[1]):
    for _ in range(1_000_000):
        pass
"""


@contextmanager
def busy(num_loops: int) -> Iterator[None]:
    """Keep so many loops running that do nothing but use processors."""
    words = [sys.executable, "-I", "-S", "-c", LOOP, str(os.getpid())]
    loops: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(num_loops):
            loops.append(subprocess.Popen(words))  # noqa: PERF401  # those that started are ended if one does not
        yield
    finally:
        for loop in loops:
            loop.kill()
        for loop in loops:
            loop.wait()
