"""The points of one test cell, apart from nbgrader, whose import takes seconds: results are read without it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CellScore:
    """What one test cell earned.

    Attributes:
        grade_id: Name of the cell.
        points: Points earned, from 0 to `max_points`.
        max_points: Points of a cell that passes.
        message: Empty when the cell passed, else the error without its traceback ("AssertionError: ...").
    """

    grade_id: str
    points: float
    max_points: float
    message: str

    @property
    def passed(self) -> bool:
        """Whether the test passed; a test of 0 points can fail too."""
        return not self.message
