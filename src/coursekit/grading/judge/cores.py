"""Cores for the slots of a grader, which no other grader on the same machine uses."""

from __future__ import annotations

import os
import socket
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# A socket without a file: the kernel lets one process at a time have the name, whoever it belongs to, and takes it back
# when that process ends, however it does. Nobody listens on it.
NAME = "\0coursekit-grader-core-{}"


@contextmanager
def own_cores(num_slots: int) -> Iterator[list[tuple[int, ...]]]:
    """Yield disjoint sets of this process's cores, one for each slot, which no other grader gets meanwhile.

    Where too few are left, the sets are empty, which stands for all cores: the kernel then finds those that idle.
    A single slot keeps to no cores either.
    """
    with ExitStack() as held:
        cores = sorted(os.sched_getaffinity(0)) if num_slots > 1 else []
        free = [core for core in cores if _hold(core, held)]
        if len(free) < num_slots:
            held.close()
            free = []
        yield [tuple(free[number::num_slots]) for number in range(num_slots)]


def _hold(core: int, held: ExitStack) -> bool:
    holder = socket.socket(socket.AF_UNIX)
    try:
        holder.bind(NAME.format(core))
    except OSError:
        holder.close()
        return False
    held.enter_context(holder)
    return True
