"""Read the records of batch jobs that students hand in; `coursekit execute` writes them, but they prove nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coursekit.labs.run.jobs_folder import RECORD
from coursekit.text import counted

MAX_RECORD_BYTES = 1_000_000
MAX_NUM_RECORDS = 20
MAX_CHARACTERS, MAX_NUMBER = 100, 1e9


@dataclass(frozen=True)
class JobRecord:
    """The record of one run by `coursekit execute`, as the student handed it in; it is a claim, not proof."""

    job: str  # Slurm's job number, or the folder's name if the record has none
    nodes: str  # the job's nodes as Slurm abbreviates them, or the machine's name
    num_ranks: int
    time_s: float
    points: float  # by the notebook's own tests
    started: str

    def __str__(self) -> str:
        when = f", {self.started}" if self.started else ""
        return (
            f"job {self.job} on {self.nodes or 'an unnamed node'}: {counted(self.num_ranks, 'rank')}, "
            f"{self.time_s:.1f} s, {self.points:g} points{when} (the student's own record)"
        )


def read_records(files: Mapping[str, bytes], lab: str) -> tuple[JobRecord, ...]:
    """Return the records of runs of this lab in `files`, which maps paths to contents; skip files without a record."""
    found = [(name, match["job"]) for name in files if (match := re.fullmatch(f"(?:.*/)?{RECORD}", name))]
    records = (_read(files[name], job, lab) for name, job in sorted(found)[:MAX_NUM_RECORDS])
    return tuple(record for record in records if record)


def _read(content: bytes, job: str, lab: str) -> JobRecord | None:
    try:
        data = json.loads(content if len(content) <= MAX_RECORD_BYTES else b"")
        facts, numbers = data["facts"], [float(data[key]) for key in ("num_ranks", "time_s", "points")]
        if data["lab"] != lab or not all(abs(number) < MAX_NUMBER for number in numbers):
            return None
        return JobRecord(
            job=_text(facts, "job_id") or ascii(job.removeprefix(f"{lab}-"))[1:-1][:MAX_CHARACTERS],
            nodes=_text(facts, "nodes") or _text(facts, "host"),
            num_ranks=int(numbers[0]),
            time_s=numbers[1],
            points=numbers[2],
            started=_text(data, "started"),
        )
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError):
        return None  # `coursekit execute` cannot have written this, so it is not a record


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return ascii(value)[1:-1][:MAX_CHARACTERS] if isinstance(value, str) else ""
