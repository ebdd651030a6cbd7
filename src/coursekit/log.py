"""Log what this process and its workers do during one call, to a file and, with `coursekit -v`, also to stderr."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

FORMAT = "%(asctime)s %(process)d %(levelname)s %(message)s"
VARIABLE = "COURSEKIT_LOG"  # passes the path of the log to workers; never set in a sandbox


@contextmanager
def log_to(path: Path) -> Iterator[None]:
    """Within the block, write to a file everything that the kit logs in this process and in its workers."""
    with suppress(OSError):  # if the disk is full, the code that needs it will report that
        path.parent.mkdir(exist_ok=True)
    logger, handler = logging.getLogger("coursekit"), logging.FileHandler(path, encoding="utf-8", delay=True)
    handler.handleError = lambda _: None  # type: ignore[assignment,method-assign]  # as above
    handler.setFormatter(logging.Formatter(FORMAT))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    os.environ[VARIABLE] = str(path)
    try:
        yield
    finally:
        del os.environ[VARIABLE]
        logger.removeHandler(handler)
        with suppress(OSError):
            handler.close()


def log_to_stderr() -> None:
    """Write the kit's log to stderr as well, until this process ends."""
    logging.basicConfig(format=FORMAT)
    logging.getLogger("coursekit").setLevel(logging.INFO)


def machine() -> str:
    """Return a text that says how busy the machine is: its load, its cores, and its free memory."""
    free_gb = psutil.virtual_memory().available / 2**30
    return f"load {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} cores, {free_gb:.1f} GB of memory free"
