"""Every process of a kernel, however far it has wandered off, found and ended.

A kernel starts ranks, which may start processes of their own, in sessions of their own, whose parents may be gone.
A mark in the environment, inherited by all of them, finds those that no longer hang below the kernel.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import psutil

from coursekit.ranks.environ import scrubbed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

MARK = "COURSEKIT_RUN_FOLDER"
TERMINATE_GRACE_S = 3.0
KILL_GRACE_S = 5.0


def kernel_environment(folder: Path) -> dict[str, str]:
    """Return this process's environment for a kernel: without launchers' variables, marked with its folder."""
    # A profile of our own: start-up files of the person who runs the lab must not change its result.
    return {**scrubbed(), MARK: str(folder), "IPYTHONDIR": str(folder / ".ipython")}


def marked_processes(folder: Path) -> set[psutil.Process]:
    """Return the live processes of any kernel that worked in this folder or in one below it."""
    return {process for process in psutil.process_iter() if _worked_in(process, str(folder))}


def end_all(processes: Iterable[psutil.Process]) -> None:
    """Ask processes to end, kill those that do not, and return when all are gone."""
    alive = [process for process in processes if is_alive(process)]
    for process in alive:
        _ignoring_the_dead(process.terminate)
    _, alive = psutil.wait_procs(alive, timeout=TERMINATE_GRACE_S) if alive else ([], [])
    for process in alive:
        _ignoring_the_dead(process.kill)
    psutil.wait_procs([process for process in alive if is_alive(process)], timeout=KILL_GRACE_S)


def end_marked(folder: Path) -> None:
    """End everything that a kernel of this folder left behind, also what is started while we look."""
    while remaining := marked_processes(folder):
        end_all(remaining)


def is_alive(process: psutil.Process) -> bool:
    """Return whether a process still does something; one that only waits to be buried does not."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _worked_in(process: psutil.Process, folder: str) -> bool:
    try:
        mark = process.environ().get(MARK, "")
    except (psutil.Error, OSError):
        # Other people's processes keep their environment to themselves, and are none of ours.
        return False
    ours = mark == folder or mark.startswith(folder + os.sep)
    return ours and process.pid != os.getpid() and is_alive(process)


def _ignoring_the_dead(signal: Callable[[], None]) -> None:
    with suppress(psutil.NoSuchProcess):
        signal()
