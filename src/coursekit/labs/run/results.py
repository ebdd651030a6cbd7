"""What a run leaves behind: frozen records that are written as JSON and read back as the same values."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Union

from coursekit.files import write_text
from coursekit.labs.cells import CellScore
from coursekit.labs.run.facts import Facts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SCHEMA = 1
PASSED, FAILED, INTERRUPTED, NOT_RUN = "passed", "failed", "interrupted", "not run"

Value = Union[bool, int, float, str, list[Any], dict[str, Any], None]


@dataclass(frozen=True)
class FailedCell:
    """The cell a lab stopped at.

    Attributes:
        number: Position among the code cells, counted from 1; it is the `[n]` beside the executed cell.
        name: The cell's name in the authored source.
        source: Its Python code.
        error: Last lines of the traceback, without colours; empty when the kernel left none.
    """

    number: int
    name: str
    source: str
    error: str


@dataclass(frozen=True)
class LabResult:
    """How one lab went.

    Attributes:
        lab: Name of the lab's folder.
        title: Its title in `lab.toml`.
        verdict: `passed`, `failed`, `interrupted` or `not run`.
        reason: One sentence on why it did not pass; empty when it did.
        note: Why `--resume` ran it again or kept it; empty in a first run.
        scores: One score per test cell.
        time_s: Wall-clock seconds from the start of the kernel until it had ended.
        peak_memory_mb: Highest sum over the kernel and all processes below it, in 10^6 bytes.
        num_ranks: The notebook's parameter of that name, 1 without one.
        parameters: Every value that was passed to the notebook.
        fingerprint: What the result depends on; a result is kept by `--resume` while this stays equal.
        started: When it started, ISO 8601 with the offset from UTC; empty for a lab that was not run.
        failed_cell: The cell it stopped at, if any.
        facts: Machine, versions and commit it ran with; None for a lab that was not run.
        images_per_s: Training speed of all ranks together that the lab measured; 0 where it measures none.
        schema: Version of this record's form.
    """

    lab: str
    title: str
    verdict: str
    reason: str
    note: str
    scores: tuple[CellScore, ...]
    time_s: float
    peak_memory_mb: float
    num_ranks: int
    parameters: Mapping[str, Value]
    fingerprint: Mapping[str, str]
    started: str = ""
    failed_cell: FailedCell | None = None
    facts: Facts | None = None
    images_per_s: float = 0.0
    schema: int = SCHEMA

    @property
    def points(self) -> float:
        """Points earned over all test cells."""
        return sum(score.points for score in self.scores)

    @property
    def max_points(self) -> float:
        """Points of a lab whose every test passes."""
        return sum(score.max_points for score in self.scores)

    @property
    def lost(self) -> tuple[CellScore, ...]:
        """The test cells that did not pass, in the order of the notebook."""
        return tuple(score for score in self.scores if not score.passed)

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values, with the sums that readers of the file would compute first."""
        return {**asdict(self), "points": self.points, "max_points": self.max_points}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LabResult:
        """Return the record that `to_json` wrote."""
        fields = {key: value for key, value in data.items() if key not in {"points", "max_points"}}
        return replace(
            cls(**fields),
            scores=tuple(CellScore(**score) for score in data["scores"]),
            failed_cell=data["failed_cell"] and FailedCell(**data["failed_cell"]),
            facts=data["facts"] and Facts(**data["facts"]),
        )


@dataclass(frozen=True)
class RunReport:
    """One run over several labs.

    Attributes:
        name: Name of the run's folder, its local starting time.
        finished: When the report was written, ISO 8601 with the offset from UTC.
        facts: Machine, versions and commit of the newest attempt.
        labs: One result per chosen lab, sorted by name.
        schema: Version of this record's form.
    """

    name: str
    finished: str
    facts: Facts
    labs: tuple[LabResult, ...]
    schema: int = SCHEMA

    @property
    def passed(self) -> bool:
        """Whether every chosen lab ran and earned full points."""
        return all(result.verdict == PASSED for result in self.labs)

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values."""
        labs = [result.to_json() for result in self.labs]
        return {**asdict(replace(self, labs=())), "passed": self.passed, "labs": labs}


def write_json(path: Path, data: Any) -> None:
    """Write plain data as JSON, the whole file or nothing."""
    write_text(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")
