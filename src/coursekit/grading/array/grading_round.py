"""One round of grading as a Slurm job array: a folder that the job and the one who submitted it share.

    settings.json           how to judge
    source-<digest>.ipynb   a lab's notebook with hidden tests, as it was when this was written
    batch-<task>.jsonl      what a task judges: a job on each line
    array                   Slurm's number of the array, once it is submitted
    verdicts-<task>-….jsonl what a start of that task has judged: a verdict on each line, added as it comes

Each start of a task has a file of its own, so that none writes where another does, on whatever node.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from coursekit.grading.judge.pool import Job, PoolSettings
from coursekit.grading.judge.slot import OWN_MEMORY_GB, Limits
from coursekit.grading.submission.work import Work
from coursekit.grading.verdict import Flag, Verdict
from coursekit.labs.run.results import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SETTINGS, ARRAY = "settings.json", "array"
PRIVATE_MODE = 0o700  # hidden tests and everybody's answers


@dataclass(frozen=True)
class Round:
    """A round's folder.

    Attributes:
        folder: where it lies, on every node under the same path.
        batches: by number of the task, the keys of the jobs that it judges.
    """

    folder: Path
    batches: tuple[tuple[str, ...], ...]
    _positions: dict[Path, int] = field(default_factory=dict, compare=False, repr=False)

    @property
    def array_id(self) -> str:
        """Slurm's number of the array; '' before it is submitted."""
        with suppress(OSError):
            return (self.folder / ARRAY).read_text(encoding="utf-8").strip()
        return ""

    @property
    def keys(self) -> set[str]:
        """The keys of all its jobs."""
        return {key for batch in self.batches for key in batch}

    def submitted_as(self, array_id: str) -> None:
        """Write down what number Slurm gave to it."""
        write_atomically(self.folder / ARRAY, f"{array_id}\n")

    def settings(self) -> PoolSettings:
        """Return how to judge."""
        data = json.loads((self.folder / SETTINGS).read_text(encoding="utf-8"))
        image = Path(data.pop("image")) if data["image"] else data.pop("image")
        return PoolSettings(limits=Limits(**data.pop("limits")), image=image, **data)

    def jobs(self, task: int) -> list[Job]:
        """Return what a task judges."""
        return _read_jobs(_batch(self.folder, task))

    def new_verdicts(self) -> Iterator[Verdict]:
        """Return the verdicts that came since the last call, each once its line is whole."""
        for path in sorted(self.folder.glob("verdicts-*.jsonl")):
            start = self._positions.get(path, 0)
            with suppress(OSError), path.open("rb") as file:
                file.seek(start)
                whole, newline, _ = file.read().rpartition(b"\n")
                self._positions[path] = start + len(whole) + len(newline)
                yield from _verdicts(whole, self.keys)

    def all_verdicts(self) -> Iterator[Verdict]:
        """Return all verdicts: on some file systems a line that came broken is whole when it is read again."""
        self._positions.clear()
        return self.new_verdicts()

    def open_verdicts(self, task: int, start: str) -> IO[str]:
        """Make and return the file for the verdicts of one start of a task."""
        return (self.folder / f"verdicts-{task:04}-{start}.jsonl").open("x", encoding="utf-8")

    def remove(self) -> None:
        """Remove the folder; where a node still holds a file in it, a part may stay until the next call."""
        shutil.rmtree(self.folder, ignore_errors=True)


def write_round(parent: Path, jobs: Sequence[Job], settings: PoolSettings, batch_size: int) -> Round:
    """Write what a job array needs in order to judge.

    Args:
        parent: the folder of all rounds.
        jobs: what to judge, each with a key of its own.
        settings: how to judge.
        batch_size: how many jobs a task gets, at most.
    """
    parent.mkdir(mode=PRIVATE_MODE, parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="round-", dir=parent))
    sources = {source: _copy(source, folder) for source in {job.source for job in jobs}}
    lines = [json.dumps({**asdict(job), "source": str(sources[job.source])}) + "\n" for job in jobs]
    starts = range(0, len(jobs), batch_size)
    for task, start in enumerate(starts):
        write_atomically(_batch(folder, task), "".join(lines[start : start + batch_size]))
    image = str(settings.image.resolve()) if settings.image else None
    # Last, since a folder with settings is one that is whole.
    write_atomically(folder / SETTINGS, json.dumps({**asdict(settings), "image": image}))
    return Round(folder, tuple(tuple(job.key for job in jobs[start : start + batch_size]) for start in starts))


def open_round(folder: Path) -> Round | None:
    """Return the round in a folder, None when it was never written to its end."""
    if not (folder / SETTINGS).is_file():
        return None
    batches = [_read_jobs(path) for path in sorted(folder.glob("batch-*.jsonl"))]
    return Round(folder, tuple(tuple(job.key for job in batch) for batch in batches))


def append(verdicts: IO[str], verdict: Verdict) -> None:
    """Add a verdict as one line, and return when it is on the disk."""
    verdicts.write(json.dumps(json.loads(verdict.dumps())) + "\n")
    verdicts.flush()
    os.fsync(verdicts.fileno())


def num_slots(num_cpus: int, memory_gb: float, limits: Limits) -> int:
    """Return how many hand-ins to judge at a time: each on a core of its own, with the memory that it may use."""
    return max(1, min(num_cpus, int(memory_gb / (limits.memory_gb + OWN_MEMORY_GB))))


def _batch(folder: Path, task: int) -> Path:
    return folder / f"batch-{task:04}.jsonl"


def _copy(source: Path, folder: Path) -> Path:
    """Copy a notebook: the next `coursekit build` may change it while the array waits."""
    content = source.read_bytes()
    copy = folder / f"source-{hashlib.sha256(content).hexdigest()[:16]}.ipynb"
    copy.write_bytes(content)
    return copy


def _read_jobs(path: Path) -> list[Job]:
    jobs = []
    for line in path.read_text(encoding="utf-8").splitlines():
        data = json.loads(line)
        work = data["work"]
        extra = tuple((after, text) for after, text in work["extra"])
        flags = tuple(Flag(**flag) for flag in work["flags"])
        given = Work(work["lab"], work["student"], work["answers"], extra, flags)
        jobs.append(Job(Path(data["source"]), given, data["key"], tuple(data["left_out"])))
    return jobs


def _verdicts(lines: bytes, keys: set[str]) -> Iterator[Verdict]:
    """Return the verdicts on these keys; what is no verdict is passed over, and will be missed."""
    for line in lines.split(b"\n"):
        with suppress(ValueError):
            verdict = Verdict.loads(line.decode())
            if verdict.key in keys:
                yield verdict
