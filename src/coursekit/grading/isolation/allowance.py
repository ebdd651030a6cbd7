"""What one isolated process gets, and the limits that the kernel holds for it and for each that it starts."""

from __future__ import annotations

import os
import re
import resource
from dataclasses import dataclass
from pathlib import Path

# Few, as the kernel counts what they hold for the account: watches of epoll by the square, files on their way through
# sockets, of which anybody with a limit of 1024 may send no more when there are as many, and buffers of pipes.
MAX_NUM_OPEN_FILES = 256
MAX_NUM_SIGNALS = 256  # that wait, of an isolated process with its descendants; timers count, too
COUNTS_BY_NAMESPACE = (5, 14)  # version of the kernel
NUM_TRUSTED = 2  # the waiter and the first process count too
CPU_GRACE_S = 5  # between SIGXCPU, which can be caught, and SIGKILL


@dataclass(frozen=True)
class Allowance:
    """What one isolated process and its descendants get.

    Attributes:
        tmp_bytes: size of the private /tmp, and that of /dev/shm.
        num_files: how many files and folders fit into each of them.
        shared: folder of the outer /tmp that appears inside as /shared, writable; None for none.
        own: folder of the outer /tmp that appears inside as `namespaces.OWN`, writable, for this process
            alone; None for none.
        max_num_processes: processes and threads at once (not for a root outside: see `cgroups`).
        max_file_bytes: size of a file.
        max_memory_bytes: data that a single process may add to what it has when it enters.
        max_cpu_s: seconds on a core, of a single process.
        isolated: False for limits alone, as the sandbox "none" has it: a private folder instead of a private /tmp.
        in_sight: folders within the outer /tmp that stay where they are, read-only: a kit that is installed there.
    """

    tmp_bytes: int
    num_files: int
    shared: Path | None
    max_num_processes: int
    max_file_bytes: int
    max_memory_bytes: int
    max_cpu_s: int
    own: Path | None = None
    isolated: bool = True
    in_sight: tuple[str, ...] = ()


def set_rlimits(allowance: Allowance) -> None:
    """Limit this process and all that it starts; none can raise a limit again.

    Memory is limited by RLIMIT_DATA, relative to what the process has: TensorFlow reserves far more addresses
    (RLIMIT_AS) than it uses. Every process has that limit for itself, so the sum is the watcher's business.
    The kernel counts processes and waiting signals per user, and since 5.14 those of a user namespace for themselves:
    only there are these limits of its own, which honest work of another slot cannot use up.
    """
    limits = {
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_NOFILE: (MAX_NUM_OPEN_FILES, MAX_NUM_OPEN_FILES),
        resource.RLIMIT_FSIZE: (allowance.max_file_bytes, allowance.max_file_bytes),
        resource.RLIMIT_CPU: (allowance.max_cpu_s, allowance.max_cpu_s + CPU_GRACE_S),
        resource.RLIMIT_DATA: (data_bytes() + allowance.max_memory_bytes,) * 2,
        resource.RLIMIT_MEMLOCK: (0, 0),
        resource.RLIMIT_RTPRIO: (0, 0),
    }
    if allowance.isolated and _kernel() >= COUNTS_BY_NAMESPACE:
        limits[resource.RLIMIT_NPROC] = (allowance.max_num_processes + NUM_TRUSTED,) * 2
        limits[resource.RLIMIT_SIGPENDING] = (MAX_NUM_SIGNALS,) * 2
    for limit, wanted in limits.items():
        _, ceiling = resource.getrlimit(limit)
        allowed = [value if ceiling == resource.RLIM_INFINITY else min(value, ceiling) for value in wanted]
        resource.setrlimit(limit, (allowed[0], allowed[1]))


def _kernel() -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])


def data_bytes() -> int:
    """Return the private writable memory of this process, touched or not."""
    found = re.search(r"^VmData:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found.group(1)) * 1024 if found else 0
