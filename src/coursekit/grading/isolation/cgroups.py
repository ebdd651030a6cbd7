"""Read the limits of this process's control groups, and count what the kernel has refused them.

The groups may be those of a container or a job. Version 1 of control groups has a separate hierarchy for each
controller; version 2 has a single hierarchy for all of them (cgroups(7)). A machine may have both.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import NamedTuple

from coursekit.text import counted

# The first two files belong to version 2. The third belongs to version 1, and holds a number near 2^63 if there is no
# limit.
LIMITS_OF_MEMORY = ("memory.max", "memory.high", "memory.limit_in_bytes")
UNLIMITED_BYTES = 1 << 62


def memory_bytes() -> float:
    """Return how many bytes of memory all processes in these groups may use together; infinite if there is no limit."""
    texts = [_read(folder / name).strip() for folder in folders("memory") for name in LIMITS_OF_MEMORY]
    limits = [int(text) for text in texts if text.isdigit()]
    return min((limit for limit in limits if limit < UNLIMITED_BYTES), default=math.inf)


def num_cores() -> float:
    """Return how many cores all processes in these groups may use together; infinite if there is no limit.

    The number need not be whole: 1.5 is possible.
    """
    texts = [_read(folder / "cpu.max") for folder in folders("cpu")]
    texts += [_read(folder / "cpu.cfs_quota_us") + _read(folder / "cpu.cfs_period_us") for folder in folders("cpu")]
    quotas = [text.split() for text in texts if text[:1].isdigit()]  # without a limit: "max", or -1 in version 1
    return min((int(quota[0]) / int(quota[1]) for quota in quotas if len(quota) > 1), default=math.inf)


class Refusals(NamedTuple):
    """Counts of what the kernel has refused this process's groups since they were created."""

    num_killed: int  # processes that the kernel killed because memory ran out
    num_forks: int  # processes and threads that it did not start because of a limit

    @classmethod
    def so_far(cls) -> Refusals:
        """Return the counts up to now.

        The kernel counts a killed process for the process's own group, no matter whose limit was reached: that group's,
        another group's or the machine's. In the same way, it counts processes that could not be started; but since
        Linux 6.11, version 2 counts these for the group that has the limit.
        """
        killed = [folder / name for folder in folders("memory")[:1] for name in ("memory.events", "memory.oom_control")]
        killed_here = _numbers("oom_kill", *killed) or _numbers("oom_kill", Path("/proc/vmstat"))
        forks = [folder / "pids.events" for folder in folders("pids")[:1]]
        forks += [folder / "pids.events.local" for folder in folders("pids")]
        return cls(sum(killed_here), sum(_numbers("max", *forks)))

    def since(self) -> str:
        """Return a sentence about the kernel's refusals since these counts were taken, or '' if there were none."""
        num_killed, num_forks = (now - before for now, before in zip(Refusals.so_far(), self))
        if num_killed > 0:
            return f"memory ran out, and the kernel killed {num_killed} of the grader's processes"
        return f"the limit on processes and threads (pids.max) was hit {counted(num_forks, 'time')}" * (num_forks > 0)


def folders(controller: str) -> list[Path]:
    """Return the folders of this process's groups, from the process's own group up to the highest visible group."""
    lines = _read(Path("/proc/self/cgroup")).splitlines()
    groups = {name: path for _, names, path in (line.split(":", 2) for line in lines) for name in names.split(",")}
    kind, group = ("cgroup", groups[controller]) if controller in groups else ("cgroup2", groups.get("", "/"))
    for line in _read(Path("/proc/self/mountinfo")).splitlines():
        (_, _, _, root, point, *_), (its_kind, *_, options) = map(str.split, line.split(" - "))
        if its_kind == kind and (kind == "cgroup2" or controller in options.split(",")):
            # A container may see its own group as the top, although /proc/self/cgroup gives the path on the machine.
            inside = group.removeprefix(root) if Path(group).is_relative_to(root) else ""
            own = Path(point, inside.lstrip("/"))
            return [own, *(parent for parent in own.parents if parent.is_relative_to(point))]
    return []


def _numbers(name: str, *files: Path) -> list[int]:
    """Return the counts with this name in these files, one for each file that has it."""
    return [int(number) for file in files for number in re.findall(rf"^{name} (\d+)$", _read(file), re.MULTILINE)]


def _read(file: Path) -> str:
    """Return a file's content, or '' if the file is missing.

    It may be missing because it belongs to the other version of control groups, or because the topmost group lacks it.
    """
    try:
        return file.read_text(encoding="utf-8")
    except OSError:
        return ""
