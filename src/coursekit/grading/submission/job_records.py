"""Records of batch jobs in a hand-in: what the student says of a job, for the instructor to see next to the points."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coursekit.grading.submission.students_files import RefusedFileError, read_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

RECORD = re.compile(r"(?:.*/)?jobs/(?P<job>[^/]+)/result\.json")
MAX_RECORD_BYTES = 1_000_000
MAX_NUM_RECORDS = 20
MAX_CHARACTERS = 100


@dataclass(frozen=True)
class JobRecord:
    """What `coursekit execute` wrote of one run, as the student handed it in: a claim, never a proof.

    Attributes:
        job: Slurm's number of the job; the folder's name if the record has no number.
        nodes: Nodes of the job as Slurm folds them; else the machine's name.
        points: Points that its own tests gave.
    """

    job: str
    nodes: str
    num_ranks: int
    time_s: float
    points: float
    started: str

    def __str__(self) -> str:
        when = f", {self.started}" if self.started else ""
        return (
            f"job {self.job} on {self.nodes or 'an unnamed node'}: {self.num_ranks} ranks, {self.time_s:.1f} s, "
            f"{self.points:g} points{when} (the student's own record)"
        )


def read_records(folder: Path, names: Iterable[str], lab: str) -> tuple[JobRecord, ...]:
    """Read every record of this lab among the files of a hand-in; skips files that hold none."""
    found = [(name, match["job"]) for name in names if (match := RECORD.fullmatch(name))]
    records = (_read(folder, name, job, lab) for name, job in sorted(found)[:MAX_NUM_RECORDS])
    return tuple(record for record in records if record)


def _read(folder: Path, name: str, job: str, lab: str) -> JobRecord | None:
    try:
        data = json.loads(read_file(folder, name, MAX_RECORD_BYTES))
        if not isinstance(data, dict) or data.get("lab") != lab:
            return None
        given = data.get("facts")
        facts = given if isinstance(given, dict) else {}
        return JobRecord(
            job=_text(facts, "job_id") or ascii(job.removeprefix(f"{lab}-"))[1:-1][:MAX_CHARACTERS],
            nodes=_text(facts, "nodes") or _text(facts, "host"),
            num_ranks=int(_number(data, "num_ranks")),
            time_s=_number(data, "time_s"),
            points=_number(data, "points"),
            started=_text(data, "started"),
        )
    except (RefusedFileError, ValueError, RecursionError):
        return None


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return ascii(value)[1:-1][:MAX_CHARACTERS] if isinstance(value, str) else ""


def _number(data: Mapping[str, Any], key: str) -> float:
    value = data.get(key)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e9  # noqa: PLR2004
    return float(value) if is_number else 0.0  # type: ignore[arg-type]
