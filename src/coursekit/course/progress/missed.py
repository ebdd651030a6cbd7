"""What a class missed: points per property, the one that most students missed first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit.course.progress.wording import Wording, wordings
from coursekit.course.report.bars import Bar, bars_as_svg
from coursekit.course.report.grade_figures import most_common

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup
    from nbformat import NotebookNode

    from coursekit.course.progress.graded_notebooks import GradedNotebook
    from coursekit.course.progress.points import Cell, Graded


@dataclass(frozen=True)
class Missed:
    """One graded cell of a lab over the class.

    Attributes:
        cell: The cell, with the points it has now.
        wording: What it is called, and the lab's section that explains it.
        num_graded: Students who have points for it, be it 0.
        num_missed: Those of them who have less than all.
        num_waiting: Students whose answer waits for a person.
        points: Points of all who are graded, each at most the cell's.
        example: A message that most of those share who missed a test, apart from numbers.
        num_alike: How many share it.
    """

    cell: Cell
    wording: Wording
    num_graded: int
    num_missed: int
    num_waiting: int
    points: float
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


def find_missed(
    cells: Sequence[Cell],
    graded: Mapping[str, Graded],
    notebooks: Mapping[str, GradedNotebook],
    released: NotebookNode | None,
) -> tuple[Missed, ...]:
    """Return every cell with points, the one that most students missed first, then as the lab has them.

    Args:
        cells: of one lab.
        graded: by student.
        notebooks: by student; for what tests said.
        released: the lab as students get it, for names and sections; None when it was never built.
    """
    words = wordings(released) if released else {}
    order = {name: i for i, name in enumerate(words)}
    found = [_missed(cell, words.get(cell.name, Wording(cell.name)), graded, notebooks) for cell in cells]
    found = [one for one in found if one.cell.max_points > 0]
    return tuple(sorted(found, key=lambda one: (-one.share, order.get(one.cell.name, len(order)))))


def _missed(
    cell: Cell, wording: Wording, graded: Mapping[str, Graded], notebooks: Mapping[str, GradedNotebook]
) -> Missed:
    points = {student: entry.points.get(cell.name) for student, entry in graded.items() if cell.name in entry.points}
    known = {student: max(0.0, min(value, cell.max_points)) for student, value in points.items() if value is not None}
    missed = [student for student, value in known.items() if value < cell.max_points]
    messages = [notebooks[student].messages.get(cell.name, "") for student in missed]
    return Missed(
        cell,
        wording,
        len(known),
        len(missed),
        len(points) - len(known),
        sum(known.values()),
        *most_common([message for message in messages if message]),
    )


def draw(lab: str, missed: Sequence[Missed]) -> Markup:
    """Return an SVG element: for each property how many of all points were earned; what nobody has yet is left out."""
    bars = [
        Bar(
            one.wording.title,
            one.points,
            one.cell.max_points * one.num_graded - one.points,
            f"{one.num_missed} of {one.num_graded}",
            one.wording.section,
        )
        for one in missed
        if one.num_graded
    ]
    return bars_as_svg(f"bars-{lab}", bars, describe(lab, missed), ("points earned", "points missed"))


def describe(lab: str, missed: Sequence[Missed]) -> str:
    """Return what the picture shows, in words."""
    seen = [one for one in missed if one.num_graded]
    rows = "; ".join(f"{one.wording.title}: {one.num_missed} of {one.num_graded}" for one in seen)
    return (
        f"Bars of the points that the class earned and missed in {lab}, most missed first. Students who missed: {rows}."
    )
