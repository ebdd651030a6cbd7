"""What a run leaves behind: records that are written as JSON and read back as the same values, also in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from coursekit.labs.cells import CellScore
from coursekit.labs.run.facts import Facts

HTML = "report.html"  # of a run, for people
PASSED, FAILED, INTERRUPTED, NOT_RUN = "passed", "failed", "interrupted", "not run"

MB_PER_GB = 1000
SECONDS_PER_MINUTE = 60
NOTHING = "-"
WHOLE_FROM = 100  # from here on decimals say nothing

Value = bool | int | float | str | list[Any] | dict[str, Any] | None


@dataclass(frozen=True)
class FailedCell:
    """The cell a lab stopped at: its `[n]`, its name in the authored source, its code, the end of its traceback."""

    number: int
    name: str
    source: str
    error: str


@dataclass(frozen=True)
class LabResult:
    """How one lab went.

    Attributes:
        verdict: `passed`, `failed`, `interrupted` or `not run`.
        reason: One sentence on why it did not pass; empty when it did.
        scores: One score per test cell.
        time_s: Wall-clock seconds from the start of the kernel until it had ended.
        peak_memory_mb: Highest sum over the kernel and all processes below it, in 10^6 bytes.
        num_ranks: The notebook's parameter of that name, 1 without one.
        parameters: Every value that was passed to the notebook.
        started: ISO 8601 with the offset from UTC; empty for a lab that was not run.
        facts: Machine, versions and commit it ran with; None for a lab that was not run.
        images_per_s: Training speed of all ranks together that the lab measured; 0 where it measures none.
    """

    lab: str
    title: str
    verdict: str
    reason: str
    scores: tuple[CellScore, ...]
    time_s: float
    peak_memory_mb: float
    num_ranks: int
    parameters: Mapping[str, Value]
    started: str = ""
    failed_cell: FailedCell | None = None
    facts: Facts | None = None
    images_per_s: float = 0.0

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
        known = {field.name for field in fields(cls)}  # others are sums, or those of an earlier version
        return replace(
            cls(**{name: value for name, value in data.items() if name in known}),
            scores=tuple(CellScore(**score) for score in data["scores"]),
            failed_cell=data["failed_cell"] and FailedCell(**data["failed_cell"]),
            facts=data["facts"] and Facts(**data["facts"]),
        )


def format_points(result: LabResult) -> str:
    """Return "18 / 20", without needless decimals."""
    return f"{result.points:g} / {result.max_points:g}" if result.scores else NOTHING


def format_memory(memory_mb: float) -> str:
    """Return megabytes as "512 MB" or "1.23 GB"."""
    if not memory_mb:
        return NOTHING
    return f"{memory_mb:.0f} MB" if memory_mb < MB_PER_GB else f"{memory_mb / MB_PER_GB:.2f} GB"


def format_time(time_s: float) -> str:
    """Return seconds as "12.3 s" or "2 min 05 s"."""
    if not time_s:
        return NOTHING
    if time_s < SECONDS_PER_MINUTE:
        return f"{time_s:.1f} s"
    minutes, seconds = divmod(round(time_s), SECONDS_PER_MINUTE)
    return f"{minutes} min {seconds:02} s"


def format_speed(images_per_s: float) -> str:
    """Return images per second of all ranks together: "2410" or "61.5"."""
    if not images_per_s:
        return NOTHING
    return f"{images_per_s:.0f}" if images_per_s >= WHOLE_FROM else f"{images_per_s:.3g}"
