"""The verdict on one submission (points, messages and flags), as plain data that can be saved in a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from coursekit.labs.cells import CellScore


@dataclass(frozen=True)
class Flag:
    """Something for the instructor, but not for the student, to see: its kind, and a sentence about it."""

    kind: str
    text: str


@dataclass(frozen=True)
class Verdict:
    """The verdict on one submission."""

    lab: str
    student: str
    scores: tuple[CellScore, ...]  # one for each test cell, in notebook order
    flags: tuple[Flag, ...] = ()  # for the instructor only
    fault: str = ""  # why the machine's failure makes another run necessary; then nothing is recorded
    seconds: float = 0.0  # wall-clock time of running and judging
    peak_memory_gb: float = 0.0  # the highest memory use of the run
    outputs: Mapping[str, str] = field(default_factory=dict)  # the output of cells, by id; only for the instructor
    key: str = ""  # digest of the answers, the tests and the environment

    @property
    def points(self) -> float:
        """The points that the submission earned."""
        return sum(score.points for score in self.scores)

    @property
    def max_points(self) -> float:
        """The points that a perfect submission would have earned."""
        return sum(score.max_points for score in self.scores)

    def dumps(self) -> str:
        """Return the verdict as JSON."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def loads(cls, text: str) -> Verdict:
        """Return the verdict in a text that `dumps` wrote; raise a `ValueError` if the text is not a verdict."""
        try:
            data: dict[str, Any] = json.loads(text)
            scores = tuple(CellScore(**score) for score in data.pop("scores"))
            return cls(scores=scores, flags=tuple(Flag(**flag) for flag in data.pop("flags")), **data)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"not a verdict: {error}") from None
