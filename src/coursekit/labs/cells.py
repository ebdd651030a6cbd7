"""A cell of a lab: its role in nbgrader's metadata, and what it earned; nbgrader itself takes seconds to import."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nbformat import NotebookNode

# Jupyter's tag for a cell that may fail, and ours, which tells it from an error that is part of a lesson.
GOES_ON = ("raises-exception", "run-all")
QUIZ = "quiz"  # the tag of a cell in which a student chooses, and the role of an author's


@dataclass(frozen=True)
class CellScore:
    """What one test cell earned.

    Attributes:
        grade_id: Name of the cell.
        points: Points earned, from 0 to `max_points`.
        max_points: Points of a cell that passes.
        message: Empty when the cell passed, else the error without its traceback ("AssertionError: ...").
        layouts: How many ranks on how many nodes it looked at, in pairs; None where nobody has noted them.
    """

    grade_id: str
    points: float
    max_points: float
    message: str
    layouts: Sequence[tuple[int, int]] | None = field(default=None, compare=False)

    @property
    def passed(self) -> bool:
        """Whether the test passed; a test of 0 points can fail too."""
        return not self.message


def is_grade(cell: NotebookNode) -> bool:
    """Return whether the cell earns points."""
    return bool(cell.metadata.get("nbgrader", {}).get("grade", False))


def is_solution(cell: NotebookNode) -> bool:
    """Return whether the cell is a student's to write."""
    return bool(cell.metadata.get("nbgrader", {}).get("solution", False))


def is_test(cell: NotebookNode) -> bool:
    """Return whether nbgrader gives points to this cell by running it."""
    return is_grade(cell) and not is_solution(cell) and cell.cell_type == "code"


@contextmanager
def stopping_at_errors(notebook: NotebookNode) -> Iterator[None]:
    """Let what executes the notebook inside stop at errors that *Run All* of a student's passes by."""
    marked = [cell for cell in notebook.cells if GOES_ON[1] in cell.metadata.get("tags", [])]
    for cell in marked:
        cell.metadata.tags = [tag for tag in cell.metadata.tags if tag not in GOES_ON]
    try:
        yield
    finally:
        for cell in marked:
            cell.metadata.tags = [*cell.metadata.tags, *GOES_ON]
