"""What a class missed, property by property: how many, how many points, and the words most of them were told."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit.course.report.bars import Bar, bars_as_svg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from coursekit.course.grade import GradedHandIn
    from coursekit.labs.cells import CellScore

NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


@dataclass(frozen=True)
class Wording:
    """How a graded cell is called.

    Attributes:
        title: The property's name; the cell's own where no check names one.
        section: Heading of the lab's section that explains it; '' if no section does.
    """

    title: str
    section: str = ""


@dataclass(frozen=True)
class Property:
    """One graded cell of a lab over the class.

    Attributes:
        max_points: Its points now.
        wording: What it is called, and the lab's section that explains it.
        num_graded: Students who have points for it, be it 0.
        num_missed: Those of them who failed it or have less than all points.
        points: Points of all who are graded, each at most the cell's.
        num_waiting: Students whose answer waits for a person.
        example: A message that most of those share who missed a test, apart from numbers.
        num_alike: How many share it.
    """

    lab: str
    name: str
    max_points: float
    wording: Wording
    num_graded: int
    num_missed: int
    points: float
    num_waiting: int = 0
    example: str = ""
    num_alike: int = 0

    @property
    def share(self) -> float:
        """The part of those graded who missed it."""
        return self.num_missed / self.num_graded if self.num_graded else 0.0

    @property
    def mean_points(self) -> float:
        """Mean of the points of those graded."""
        return self.points / self.num_graded if self.num_graded else 0.0

    @property
    def bar(self) -> Bar:
        """The points earned and missed; students where the cell has no points."""
        good, missed = float(self.num_graded - self.num_missed), float(self.num_missed)
        if self.max_points:
            good, missed = self.points, self.max_points * self.num_graded - self.points
        return Bar(self.wording.title, good, missed, f"{self.num_missed} of {self.num_graded}", self.wording.section)


def properties(graded: Sequence[GradedHandIn]) -> tuple[Property, ...]:
    """Return every property that was judged, by lab, in the order of the notebook."""
    scores: dict[tuple[str, str], list[CellScore]] = defaultdict(list)
    for one in sorted(graded, key=lambda one: one.hand_in.lab):
        for score in one.verdict.scores:
            scores[one.hand_in.lab, score.grade_id].append(score)
    return tuple(
        Property(
            *(lab, name, those[0].max_points, Wording(name), len(those)),
            *(sum(not score.passed for score in those), sum(score.points for score in those), 0),
            *most_common([score.message for score in those if score.message]),
        )
        for (lab, name), those in scores.items()
    )


def most_common(messages: Sequence[str]) -> tuple[str, int]:
    """Return a message that most share, and how many do; numbers differ from run to run, as inputs are random."""
    if not messages:
        return "", 0
    shapes = [NUMBER.sub("#", message) for message in messages]
    shape, num_alike = Counter(shapes).most_common(1)[0]
    return messages[shapes.index(shape)], num_alike


def draw(found: Sequence[Property], alt: str, words: tuple[str, str]) -> Markup:
    """Return an SVG element with a bar for each property of one lab that somebody has points for."""
    return bars_as_svg(f"bars-{found[0].lab}", [one.bar for one in found if one.num_graded], alt, words)


def describe(found: Sequence[Property]) -> str:
    """Describe the picture of one lab in the report of grading, for people who cannot see it."""
    worst = max(found, key=lambda one: one.num_missed)
    most = f"most often failed: {worst.name}" if worst.num_missed else "none failed"
    rows = ", ".join(f"{one.name} {one.num_graded - one.num_missed} of {one.num_graded}" for one in found)
    return f"Bars of the hand-ins that passed and failed each test of {worst.lab}; {most}. Passed: {rows}."
