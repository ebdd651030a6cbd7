"""The graded notebook: the released one with the student's answers, and the judge's messages below the tests."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from nbgrader.utils import compute_checksum, determine_grade

from coursekit.grading.submission.program import name_of
from coursekit.grading.submission.student_folder import ASKS
from coursekit.grading.submission.students_files import RefusedFileError, read_file
from coursekit.grading.submission.times import SECRET, TIMESTAMP, timestamp_text
from coursekit.labs.build.generated import to_bytes
from coursekit.labs.cells import is_grade, is_solution

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nbformat import NotebookNode

    from coursekit.grading.submission.cells import Cells
    from coursekit.grading.submission.student_folder import HandIn
    from coursekit.grading.verdict import Verdict
    from coursekit.labs.cells import CellScore

NO_RESPONSE = "No response."  # nbgrader's words
MAX_SECRET_BYTES = 1000


@dataclass(frozen=True)
class GradedWork:
    """What is recorded beside the judge's points.

    Attributes:
        files: Name to content of what goes to `autograded/<student>/<lab>`, the notebook last.
        manual_scores: Cell that a person grades to 0 when nothing was written, else None.
        comments: Answer cell to nbgrader's own comment, or None.
    """

    files: Mapping[str, bytes]
    manual_scores: Mapping[str, float | None]
    comments: Mapping[str, str | None]


def graded_files(verdict: Verdict, hand_in: HandIn, released: NotebookNode, cells: Cells) -> GradedWork:
    """Return the graded notebook and what nbgrader wants beside it; `released`, as students got it, is not changed."""
    notebook = deepcopy(released)
    scores = {score.grade_id: score for score in verdict.scores}
    for cell in notebook.cells:
        if is_solution(cell):
            cell.source = cells.answers.get(name_of(cell), cell.source)
        if name_of(cell) in scores and cell.cell_type == "code":
            cell.outputs = _outputs(scores[name_of(cell)])
    answers = [cell for cell in notebook.cells if is_solution(cell)]
    manual = {name_of(cell): determine_grade(cell)[0] for cell in answers if is_grade(cell)}
    comments = {name_of(cell): NO_RESPONSE if _untouched(cell) else None for cell in answers}
    flags = dict.fromkeys((*hand_in.flags, *cells.flags, *verdict.flags))  # each once: a verdict may hold them all
    first = next((cell for cell in notebook.cells if is_grade(cell)), None)
    if first is not None and flags:  # its metadata are where formgrader's notebook has them and no page shows them
        first.metadata["coursekit"] = {"flags": [asdict(flag) for flag in flags]}
    asked = [new_markdown_cell(note, id="request") for note in hand_in.notes if note.startswith(ASKS)]
    notebook.cells = [*asked, *_with_extra(notebook.cells, cells)]

    files = {}
    if hand_in.timestamp:
        files[TIMESTAMP] = timestamp_text(hand_in.timestamp).encode()
    with suppress(RefusedFileError):  # it did not come through the exchange: its feedback cannot go back that way
        files[SECRET] = read_file(hand_in.folder, SECRET, MAX_SECRET_BYTES)
    return GradedWork({**files, f"{verdict.lab}.ipynb": to_bytes(notebook)}, manual, comments)


def _outputs(score: CellScore) -> list[NotebookNode]:
    if score.passed:
        return []
    name, _, text = score.message.partition(": ")
    return [new_output("error", ename=name, evalue=text, traceback=[score.message])]


def _untouched(cell: NotebookNode) -> bool:
    return bool(cell.metadata.nbgrader.get("checksum") == compute_checksum(cell))


def _with_extra(known: list[NotebookNode], cells: Cells) -> list[NotebookNode]:
    """Return the cells with those that the student added at their places, for a person who grades."""
    after: dict[str, list[NotebookNode]] = {}
    for i, (name, source) in enumerate(cells.extra, 1):
        cell = new_code_cell(source, id=f"added-{i}", metadata={"coursekit": {"added": True}})
        after.setdefault(name, []).append(cell)
    return [*after.get("", []), *(one for cell in known for one in (cell, *after.get(name_of(cell), [])))]
