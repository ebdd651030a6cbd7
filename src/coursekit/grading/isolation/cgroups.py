"""Limits that the kernel holds for all processes of a slot together, where this account may set them.

Version 1 of cgroups needs root as a rule. Version 2 needs a cgroup that is delegated to the account (systemd does that
for `systemd-run --user --scope -p Delegate=yes`, Slurm does not) or root.
Without either, only rlimits and the watcher limit what runs.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

KILL_TIMEOUT_S = 5.0
BUFFER_BYTES = 128 << 20  # of connections
_CONTROLLERS = ("memory", "pids")
_LIMIT_OF_MEMORY = {1: "memory.limit_in_bytes", 2: "memory.max"}
_counter = itertools.count()


@dataclass(frozen=True)
class Cgroup:
    """A cgroup of one slot: the folders of the memory and the pids controller, with version 1 two, with 2 the same."""

    memory: Path
    pids: Path
    version: int

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders, each once."""
        return tuple(dict.fromkeys((self.memory, self.pids)))

    def inside(self, argv: Sequence[str]) -> list[str]:
        """Return the command line that runs a program within the cgroup from its first moment."""
        enter = " && ".join(f"echo $$ > {shlex.quote(str(folder / 'cgroup.procs'))}" for folder in self.folders)
        return ["sh", "-c", f'{enter} && exec "$@"', "sh", *argv]

    def processes(self) -> set[int]:
        """Return the processes in the cgroup that are visible here (the kernel says 0 for others)."""
        return {int(pid) for folder in self.folders for pid in _read(folder / "cgroup.procs").split()} - {0}

    @property
    def num_killed_for_memory(self) -> int:
        """How many processes the kernel has killed because together they used too much memory."""
        told = _read(self.memory / ("memory.oom_control" if self.version == 1 else "memory.events"))
        found = re.search(r"^oom_kill (\d+)$", told, re.MULTILINE)
        return int(found.group(1)) if found else 0

    def limit(self, memory_bytes: int, num_processes: int) -> None:
        """Set the limits: memory of all processes, and how many processes and threads there may be."""
        (self.pids / "pids.max").write_text(str(num_processes))
        (self.memory / _LIMIT_OF_MEMORY[self.version]).write_text(str(memory_bytes))
        name, value = ("memory.memsw.limit_in_bytes", memory_bytes) if self.version == 1 else ("memory.swap.max", 0)
        with suppress(OSError):  # a kernel that does not count swap
            (self.memory / name).write_text(str(value))
        if self.version == 1:  # which counts these apart; all slots and the machine share what the kernel has for them
            with suppress(OSError):
                (self.memory / "memory.kmem.tcp.limit_in_bytes").write_text(str(BUFFER_BYTES))

    def remove(self) -> None:
        """Kill what is left, also what is started meanwhile, and remove the cgroup."""
        deadline_s = time.monotonic() + KILL_TIMEOUT_S
        while any(folder.exists() for folder in self.folders) and time.monotonic() < deadline_s:
            for pid in self.processes():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            for folder in self.folders:
                with suppress(OSError):  # a killed process is not quite gone
                    folder.rmdir()
            time.sleep(0.01)


@contextmanager
def cgroup(memory_bytes: int, num_processes: int) -> Iterator[Cgroup | None]:
    """Make a cgroup with these limits; kill what is in it and remove it at the end. None where one may not."""
    made = make()
    try:
        if made is not None:
            made.limit(memory_bytes, num_processes)
        yield made
    finally:
        if made is not None:
            made.remove()


def make() -> Cgroup | None:
    """Make a cgroup below this process's own or next to it, or return None where one may not."""
    _remove_stale()
    name = f"{_prefix()}{os.getpid()}-{next(_counter)}"
    for places in _places():
        version = 2 if len(places) == 1 else 1
        made = Cgroup(places[0] / name, places[-1] / name, version)
        try:
            for folder in made.folders:
                folder.mkdir()
            _probe(made)
        except OSError:
            made.remove()
            continue
        return made
    return None


def _probe(made: Cgroup) -> None:
    """Raise OSError unless processes may be put into the cgroup and both its limits be set."""
    limits = (made.pids / "pids.max", made.memory / _LIMIT_OF_MEMORY[made.version])
    for file in (*limits, *(folder / "cgroup.procs" for folder in made.folders)):
        if not os.access(file, os.W_OK):
            raise PermissionError(file)


def _places() -> Iterator[tuple[Path, ...]]:
    """Yield folders in which a cgroup might be made: (memory's, pids') of version 1, or (both's,) of version 2."""
    own = {}
    for line in _read(Path("/proc/self/cgroup")).splitlines():
        _, controllers, path = line.split(":", 2)
        own.update(dict.fromkeys(controllers.split(","), path))
    mounts = dict(_mounts())
    if all(name in mounts and name in own for name in _CONTROLLERS):
        yield tuple(seen_at(*mounts[name], own[name]) for name in _CONTROLLERS)
    elif "" in mounts and "" in own:
        folder = seen_at(*mounts[""], own[""])
        # A cgroup with processes of its own cannot have limited children; a sibling can be limited.
        for place in (folder, folder.parent):
            with suppress(OSError):
                (place / "cgroup.subtree_control").write_text("+memory +pids")
            if set(_CONTROLLERS) <= set(_read(place / "cgroup.subtree_control").split()):
                yield (place,)


def _mounts() -> Iterator[tuple[str, tuple[str, Path]]]:
    """Yield per controller ('' for version 2) which part of its tree is mounted where."""
    for line in _read(Path("/proc/self/mountinfo")).splitlines():
        words, _, rest = line.partition(" - ")
        kind, _, options = rest.split(" ", 2)
        root, point = words.split(" ")[3:5]
        if kind == "cgroup2":
            yield "", (root, Path(point))
        elif kind == "cgroup":
            for name in set(_CONTROLLERS) & set(options.split(",")):
                yield name, (root, Path(point))


def seen_at(root: str, point: Path, path: str) -> Path:
    """Return where the cgroup `path` is seen, if `root` of its tree is mounted on `point`."""
    folder = point / os.path.relpath(path, root)
    return folder if ".." not in folder.parts and folder.is_dir() else point


def _remove_stale() -> None:
    """Remove what killed processes of the kit have left, in any cgroup."""
    for _, (_, point) in _mounts():
        for folder, names, _ in os.walk(point):
            ours = [name for name in names if name.startswith(_prefix())]
            names[:] = set(names) - set(ours)
            for name in ours:
                pid = name[len(_prefix()) :].partition("-")[0]
                if not Path("/proc", pid).exists() and os.access(folder, os.W_OK):
                    Cgroup(Path(folder, name), Path(folder, name), 1).remove()


def _prefix() -> str:
    """Return the start of our cgroups' names; the processes of another PID namespace are not ours to judge."""
    return f"coursekit-{Path('/proc/self/ns/pid').stat().st_ino}-"


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
