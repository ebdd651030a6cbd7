"""What each cell role means: the table that expands `role="answer"` into nbgrader's metadata, and its rules."""

from __future__ import annotations

from dataclasses import dataclass

from coursekit.labs.build.regions import HIDDEN_TESTS, SOLUTION


@dataclass(frozen=True)
class Role:
    """How nbgrader treats a cell, and what may stand in it.

    A cell with `grade` earns points, one with `solution` is the student's to edit,
    and a `locked` one is restored before grading.
    """

    cell_types: tuple[str, ...]
    grade: bool
    solution: bool
    locked: bool
    may_hold: str | None = None
    """The kind of region allowed in the cell."""
    must_hold: bool = False


ROLES = {
    "readonly": Role(("markdown", "code"), grade=False, solution=False, locked=True),
    "answer": Role(("code",), grade=False, solution=True, locked=False, may_hold=SOLUTION, must_hold=True),
    "tests": Role(("code",), grade=True, solution=False, locked=True, may_hold=HIDDEN_TESTS),
    # Without a region the whole cell is the answer.
    "manual": Role(("markdown", "code"), grade=True, solution=True, locked=False, may_hold=SOLUTION),
}


def nbgrader_metadata(role: Role, grade_id: str, points: float | None) -> dict[str, object]:
    """Return the metadata of schema version 3 for a cell; `points` only for a graded one."""
    metadata: dict[str, object] = {
        "grade": role.grade,
        "grade_id": grade_id,
        "locked": role.locked,
        "schema_version": 3,
        "solution": role.solution,
        "task": False,
    }
    return {**metadata, "points": points} if role.grade else metadata
