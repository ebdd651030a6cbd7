"""Graded notebooks, read again: the messages below tests, and the tests that they were graded with."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coursekit.grading.submission.students_files import RefusedFileError, read_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from coursekit.course.progress.points import GradedCell

NUM_CHARACTERS = 300


@dataclass(frozen=True)
class GradedNotebook:
    """One graded notebook; both by name of a cell with points.

    Attributes:
        messages: What the test said.
        tests: Text and points of the cell as it was graded.
    """

    messages: Mapping[str, str] = field(default_factory=dict)
    tests: Mapping[str, tuple[str, float]] = field(default_factory=dict)


def read_graded(folder: Path, lab: str) -> GradedNotebook:
    """Read `autograded/<student>/<lab>`; a notebook that cannot be read gives an empty record."""
    try:
        data = json.loads(read_file(folder, f"{lab}.ipynb"))
        cells = list(_cells(data))
    except (RefusedFileError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return GradedNotebook()
    messages = {name: message for name, cell in cells if (message := _message(cell))}
    tests = {name: (_text(cell["source"]), float(cell["metadata"]["nbgrader"]["points"])) for name, cell in cells}
    return GradedNotebook(messages, tests)


def has_former_tests(graded: GradedNotebook, cells: list[GradedCell], released: Mapping[str, str]) -> bool:
    """Return whether a lab's tests or points have changed since this was graded.

    `cells` are those with points as the gradebook has them now; `released` holds by name their text for students.
    """
    now = {cell.name: cell for cell in cells if not cell.is_manual}
    return any(
        points != now[name].max_points
        or source.strip() not in {now[name].source.strip(), released.get(name, "").strip()}
        for name, (source, points) in graded.tests.items()
        if name in now
    )


def _cells(data: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for cell in data["cells"]:
        marks = cell.get("metadata", {}).get("nbgrader", {})
        if marks.get("grade"):
            yield marks["grade_id"], cell


def _message(cell: Mapping[str, Any]) -> str:
    for output in cell.get("outputs", ()):
        if output.get("output_type") == "error":
            return f"{output.get('ename', '')}: {output.get('evalue', '')}".removesuffix(": ")[:NUM_CHARACTERS]
    return ""


def _text(source: Any) -> str:
    return source if isinstance(source, str) else "".join(source)
