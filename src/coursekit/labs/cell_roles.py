"""What nbgrader's metadata say of a cell, read without nbgrader: its import takes a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode


def is_grade(cell: NotebookNode) -> bool:
    """Return whether the cell earns points."""
    return bool(cell.metadata.get("nbgrader", {}).get("grade", False))


def is_solution(cell: NotebookNode) -> bool:
    """Return whether the cell is a student's to write."""
    return bool(cell.metadata.get("nbgrader", {}).get("solution", False))


def is_test(cell: NotebookNode) -> bool:
    """Return whether nbgrader gives points to this cell by running it."""
    return is_grade(cell) and not is_solution(cell) and cell.cell_type == "code"
