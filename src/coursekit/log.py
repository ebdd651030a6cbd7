"""The log of one call: what this process and its workers did, in a file, and on stderr with `coursekit -v`."""

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
    """Write what the kit logs within the block to a file, from this process and the workers that it starts."""
    with suppress(OSError):  # code that needs the disk reports that it is full
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
    """Also write what the kit logs to stderr, until this process ends."""
    logging.basicConfig(format=FORMAT)
    logging.getLogger("coursekit").setLevel(logging.INFO)


def machine() -> str:
    """Return how busy the machine is, in words."""
    free_gb = psutil.virtual_memory().available / 2**30
    return f"load {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} cores, {free_gb:.1f} GB of memory free"
