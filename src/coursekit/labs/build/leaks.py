"""The last look at what students get: no answer, no hidden test and no marker, whatever went wrong before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.labs.build.regions import MARKER_WORDS, find_regions, outside_regions
from coursekit.labs.cells import is_solution

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nbformat import NotebookNode

# Shorter lines, such as `return loss`, are not secret: they stand in many places.
SHORTEST_SECRET = 13


def refuse_leaks(lab_name: str, source: NotebookNode, release: Mapping[str, str]) -> None:
    """Stop when a release, place (a cell or a file) to text, holds a marker or a line of an answer or hidden test.

    Raises:
        CourseKitError: something that students must not see is there; the message says what and where.
    """
    forbidden = (*MARKER_WORDS, *sorted(secret_lines(source)))
    for place, text in release.items():
        leaked = next((words for words in forbidden if words in text), None)
        if leaked is not None:
            raise CourseKitError(
                f"{lab_name}: {place} would show students {leaked!r}, which belongs to an answer or a hidden test: "
                "nothing was released; take it out of there."
            )


def secret_lines(source: NotebookNode) -> set[str]:
    """Return the lines of answers and hidden tests, stripped, that the author shows nowhere else in the notebook."""
    public = "\n".join(
        line for cell in source.cells if not _is_all_answer(cell) for line in outside_regions(cell.source)
    )
    hidden = (line for cell in source.cells for line in _hidden_lines(cell))
    return {line for line in map(str.strip, hidden) if len(line) >= SHORTEST_SECRET and line not in public}


def texts(notebook: NotebookNode, files: Mapping[str, bytes]) -> dict[str, str]:
    """Return everything readable in a release by its place: each cell's text and outputs, and each file."""
    cells = {f"cell {cell.id}": f"{cell.source}\n{cell.get('outputs', '')}" for cell in notebook.cells}
    return {**cells, **{name: content.decode("utf-8", errors="ignore") for name, content in files.items()}}


def _hidden_lines(cell: NotebookNode) -> list[str]:
    if _is_all_answer(cell):
        return list(cell.source.splitlines())
    return [line for region in find_regions(cell.source) for line in region.lines]


def _is_all_answer(cell: NotebookNode) -> bool:
    return is_solution(cell) and not find_regions(cell.source)
