"""One round of grading as a Slurm job array: a folder that its tasks and the one who submitted it share.

    settings.json           how to judge
    source-<digest>.ipynb   a lab's notebook with hidden tests, as it was when this was written
    batch-<task>.jsonl      what a task judges: a submission on each line
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
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from coursekit.files import write_file
from coursekit.grading.judge.pool import PoolSettings
from coursekit.grading.judge.slot import SubmissionLimits
from coursekit.grading.submission.work import Submission
from coursekit.grading.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SETTINGS, ARRAY = "settings.json", "array"
PRIVATE_MODE = 0o700  # hidden tests and everybody's answers


@dataclass(frozen=True)
class Round:
    """A round's folder.

    Attributes:
        folder: where it lies, on every node under the same path.
        batches: by number of the task, the keys of the submissions that it judges.
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
        """The keys of all its submissions."""
        return {key for batch in self.batches for key in batch}

    def submitted_as(self, array_id: str) -> None:
        """Write down what number Slurm gave to it."""
        write_file(self.folder / ARRAY, f"{array_id}\n".encode())

    def settings(self) -> PoolSettings:
        """Return how to judge."""
        data = json.loads((self.folder / SETTINGS).read_text(encoding="utf-8"))
        image, limits = data.pop("image"), SubmissionLimits(**data.pop("limits"))
        return PoolSettings(limits=limits, image=Path(image) if image else None, **data)

    def submissions(self, task: int) -> list[Submission]:
        """Return what a task judges."""
        return _read_batch(_batch(self.folder, task))

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


def write_round(parent: Path, submissions: Sequence[Submission], settings: PoolSettings, batch_size: int) -> Round:
    """Write what a job array needs into a new folder within `parent`; a task gets `batch_size` of them at most."""
    parent.mkdir(mode=PRIVATE_MODE, parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="round-", dir=parent))
    sources = {source: _copy(source, folder) for source in {one.source for one in submissions}}
    lines = [replace(one, source=sources[one.source]).dumps() for one in submissions]
    starts = range(0, len(submissions), batch_size)
    for task, start in enumerate(starts):
        write_file(_batch(folder, task), "".join(lines[start : start + batch_size]).encode())
    image = str(settings.image.resolve()) if settings.image else None
    # Last, since a folder with settings is one that is whole.
    write_file(folder / SETTINGS, json.dumps({**asdict(settings), "image": image}).encode())
    return Round(folder, tuple(tuple(one.key for one in submissions[start : start + batch_size]) for start in starts))


def open_round(folder: Path) -> Round | None:
    """Return the round in a folder; None if it was never written to its end."""
    if not (folder / SETTINGS).is_file():
        return None
    batches = [_read_batch(path) for path in sorted(folder.glob("batch-*.jsonl"))]
    return Round(folder, tuple(tuple(one.key for one in batch) for batch in batches))


def append(verdicts: IO[str], verdict: Verdict) -> None:
    """Add a verdict as one line, and return when it is on the disk."""
    verdicts.write(verdict.dumps(indent=None) + "\n")
    verdicts.flush()
    os.fsync(verdicts.fileno())


def _batch(folder: Path, task: int) -> Path:
    return folder / f"batch-{task:04}.jsonl"


def _copy(source: Path, folder: Path) -> Path:
    """Copy a notebook: the next `coursekit build` may change it while the array waits."""
    content = source.read_bytes()
    copy = folder / f"source-{hashlib.sha256(content).hexdigest()[:16]}.ipynb"
    copy.write_bytes(content)
    return copy


def _read_batch(path: Path) -> list[Submission]:
    return [Submission.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _verdicts(lines: bytes, keys: set[str]) -> Iterator[Verdict]:
    """Return the verdicts on these keys; skips lines that hold no verdict, which will be missing."""
    for line in lines.split(b"\n"):
        with suppress(ValueError):
            verdict = Verdict.loads(line.decode())
            if verdict.key in keys:
                yield verdict
