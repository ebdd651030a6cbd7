"""What the judge decided about one hand-in: plain data that is kept as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from coursekit.grading.cell_score import CellScore

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Flag:
    """Something odd about a hand-in, for the instructor only.

    Attributes:
        kind: A word or two by which flags are counted, such as "links".
        text: One sentence.
    """

    kind: str
    text: str


@dataclass(frozen=True)
class Verdict:
    """The outcome of one hand-in.

    Attributes:
        lab: Name of the lab.
        student: Id of the student.
        scores: One score per test cell, in the order of the notebook.
        flags: For the instructor only.
        fault: Why it needs another run, an infrastructure fault: then nothing is recorded; empty when there is none.
        seconds: Wall-clock time of the run.
        peak_memory_gb: Highest memory of its processes together, in 10^9 bytes.
        sandbox: Name of the sandbox it ran in.
        outputs: Cell id to what the cell printed, bounded; for instructors only.
        key: Digest of answers, tests and environment: equal keys have equal verdicts.
    """

    lab: str
    student: str
    scores: tuple[CellScore, ...]
    flags: tuple[Flag, ...] = ()
    fault: str = ""
    seconds: float = 0.0
    peak_memory_gb: float = 0.0
    sandbox: str = ""
    outputs: Mapping[str, str] = field(default_factory=dict, hash=False)
    key: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Verdict:
        """Return the verdict that `to_json` gave away."""
        scores = tuple(CellScore(**score) for score in data["scores"])
        flags = tuple(Flag(**flag) for flag in data["flags"])
        return cls(**{**data, "scores": scores, "flags": flags})
