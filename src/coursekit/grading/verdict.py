"""What judging says about one submission, as plain data that survives a crash: points, messages, flags."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from coursekit.labs.cells import CellScore


@dataclass(frozen=True)
class Flag:
    """Something that the instructor should look at; students never see it: a kind of cause, and one sentence."""

    kind: str
    text: str


@dataclass(frozen=True)
class Verdict:
    """What judging says about one submission."""

    lab: str
    student: str
    scores: tuple[CellScore, ...]  # one for each test cell, in the order of the notebook
    flags: tuple[Flag, ...] = ()  # for the instructor only
    fault: str = ""  # why the machine, not the student, needs another run; then nothing is recorded
    seconds: float = 0.0  # wall-clock time of run and judgement
    peak_memory_gb: float = 0.0  # the most memory that the run used at a time
    outputs: Mapping[str, str] = field(default_factory=dict)  # by id of a cell, what it printed; for the instructor
    key: str = ""  # digest of the answers, the tests and the environment

    @property
    def points(self) -> float:
        """The points earned."""
        return sum(score.points for score in self.scores)

    @property
    def max_points(self) -> float:
        """The points that could be earned."""
        return sum(score.max_points for score in self.scores)

    def dumps(self) -> str:
        """Return the verdict as JSON."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def loads(cls, text: str) -> Verdict:
        """Read what `dumps` wrote; a `ValueError` says that this is not a verdict."""
        try:
            data: dict[str, Any] = json.loads(text)
            scores = tuple(CellScore(**score) for score in data.pop("scores"))
            return cls(scores=scores, flags=tuple(Flag(**flag) for flag in data.pop("flags")), **data)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"no verdict: {error}") from None
