"""Find what an attack left outside the sandbox: changes in a bait course; files, processes, sockets with its mark."""

from __future__ import annotations

import hashlib
import itertools
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from coursekit import processes
from coursekit.paths import PACKAGE

TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108  # looked at, not used
SETTLE_S = 5.0  # for processes that the kernel is taking down
MAX_CONTENT = 1_000_000  # bytes of a file that are searched


@dataclass(frozen=True)
class Bait:
    """A course folder that an attacker would like to find: gradebook, sources, another student's work."""

    folder: Path

    @classmethod
    def make(cls, folder: Path, lab: str, source: bytes) -> Bait:
        """Write a bait course into an empty folder; `source` is the lab's notebook with hidden tests."""
        for name in (f"source/{lab}/{lab}.ipynb", f"submitted/neighbour/{lab}/{lab}.ipynb"):
            (folder / name).parent.mkdir(parents=True)
            (folder / name).write_bytes(source)
        (folder / "gradebook.db").write_bytes(b"SQLite format 3\0" + os.urandom(4096))
        return cls(folder)

    def listing(self) -> dict[str, tuple[int, int, str]]:
        """Return the mode, the modification time and the digest of everything in it."""
        found = {}
        for path in sorted(self.folder.rglob("*")):
            status = path.lstat()
            digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            found[str(path.relative_to(self.folder))] = (status.st_mode, status.st_mtime_ns, digest)
        return found


@dataclass(frozen=True)
class Before:
    """The state before a run."""

    bait: Bait
    listing: dict[str, tuple[int, int, str]]
    children: tuple[str, ...]
    start_s: float

    @classmethod
    def look(cls, bait: Bait, start_s: float) -> Before:
        """Record the state; `start_s` is the time by the file system's clock."""
        return cls(bait, bait.listing(), _children(), start_s)

    def traces(self, mark: str) -> tuple[str, ...]:
        """Return one sentence for each difference from the state before."""
        return tuple(self._traces(mark))

    def _traces(self, mark: str) -> Iterator[str]:
        now = self.bait.listing()
        changed = sorted(name for name in {*self.listing, *now} if self.listing.get(name) != now.get(name))
        yield from (f"{name} in the course was changed" for name in changed)
        children = self._settled_children()
        if children != self.children:
            yield f"the processes were {', '.join(self.children)}, and are now {', '.join(children)}"
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                told = [*process.cmdline(), *process.environ().values(), process.name()]
                if process.pid != os.getpid() and any(mark in word for word in told):
                    yield f"process {process.pid} runs: {process.name()}"
        if mark in Path("/proc/net/unix").read_text():
            yield "a socket still listens"
        yield from (f"{path} was left" for path in self._files() if _bears(path, mark))

    def _settled_children(self) -> tuple[str, ...]:
        """Return the descendants once they are as before, or after some seconds; a dying process is no trace."""
        end_s = time.monotonic() + SETTLE_S
        while (children := _children()) != self.children and time.monotonic() < end_s:
            time.sleep(0.1)
        return children

    def _files(self) -> Iterator[Path]:
        """Yield paths that are new since the start, in places where an attacker could leave something."""
        for folder in (*TEMPORARY, Path.home()):
            with suppress(OSError):
                yield from (Path(entry.path) for entry in os.scandir(folder) if self._is_new(Path(entry.path)))
        for folder in (PACKAGE, *map(Path, os.get_exec_path()[:1])):
            # Folders that this account cannot read are skipped: the submission cannot have left anything there.
            paths = (Path(parent, name) for parent, *names in os.walk(folder) for name in itertools.chain(*names))
            yield from (path for path in paths if self._is_new(path))

    def _is_new(self, path: Path) -> bool:
        with suppress(OSError):
            return path.lstat().st_mtime >= self.start_s
        return False


def _children() -> tuple[str, ...]:
    """Return the names of this process's live descendants; for an idle slot, they are the same before and after.

    Dead ones are left out: a child subreaper inherits them from sandboxes, and may reap them at any time.
    """
    names = []
    for process in filter(processes.is_alive, processes.below(os.getpid())):
        with suppress(psutil.Error):
            names.append(process.name())
    return tuple(sorted(names))


def _bears(path: Path, mark: str) -> bool:
    if mark not in path.name and not path.is_symlink() and path.is_file():
        with suppress(OSError), path.open("rb") as file:
            return mark.encode() in file.read(MAX_CONTENT)
    return mark in path.name
