"""What a class missed in a lab, the property that most students missed first, in the lab's own words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coursekit.course.report.properties import Property, Wording, most_common
from coursekit.grading.submission.program import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nbformat import NotebookNode

    from coursekit.course.progress.graded_notebooks import GradedNotebook
    from coursekit.course.progress.points import GradedCell, LabPoints

CHECK = re.compile(r"""\bcheck\(\s*(["'])(?P<title>.+?)\1,\s*section=(["'])(?P<section>.+?)\3""")
HEADING = re.compile(r"^#{1,2} (?P<text>.+?)(?: \(\d+ minutes?\))?$", re.MULTILINE)
NUMBER = re.compile(r"(?P<number>[\w.]+)\. ")


def find_missed(
    cells: Sequence[GradedCell],
    graded: Mapping[str, LabPoints],
    notebooks: Mapping[str, GradedNotebook],
    released: NotebookNode | None,
) -> tuple[Property, ...]:
    """Return every cell with points, the one that most students missed first, then as the lab has them.

    All is of one lab: what was graded and the notebooks, for what tests said, by student; and the lab as students
    get it, for names and sections, None when it was never built.
    """
    words = wordings(released) if released else {}
    order = {name: i for i, name in enumerate(words)}
    found = [
        _missed(cell, words.get(cell.name, Wording(cell.name)), graded, notebooks)
        for cell in cells
        if cell.max_points > 0
    ]
    return tuple(sorted(found, key=lambda one: (-one.share, order.get(one.name, len(order)))))


def _missed(
    cell: GradedCell, wording: Wording, graded: Mapping[str, LabPoints], notebooks: Mapping[str, GradedNotebook]
) -> Property:
    points = {student: entry.points.get(cell.name) for student, entry in graded.items() if cell.name in entry.points}
    known = {student: max(0.0, min(value, cell.max_points)) for student, value in points.items() if value is not None}
    missed = [student for student, value in known.items() if value < cell.max_points]
    messages = [notebooks[student].messages.get(cell.name, "") for student in missed]
    return Property(
        *(cell.lab, cell.name, cell.max_points, wording),
        *(len(known), len(missed), sum(known.values()), len(points) - len(known)),
        *most_common([message for message in messages if message]),
    )


def describe(lab: str, missed: Sequence[Property]) -> str:
    """Describe the picture of a lab on the page of the class, for people who cannot see it."""
    rows = "; ".join(f"{one.wording.title}: {one.num_missed} of {one.num_graded}" for one in missed if one.num_graded)
    return (
        f"Bars of the points that the class earned and missed in {lab}, most missed first. Students who missed: {rows}."
    )


def wordings(notebook: NotebookNode) -> Mapping[str, Wording]:
    """Return by name of a cell what it is called, for every cell of a released notebook that nbgrader knows."""
    headings = [found["text"].strip() for cell in notebook.cells for found in _headings(cell)]
    numbered = {found["number"]: heading for heading in headings if (found := NUMBER.match(heading))}
    words, last = {}, ""
    for cell in notebook.cells:
        last = next((found["text"].strip() for found in reversed(_headings(cell))), last)
        checks = list(CHECK.finditer(cell.source)) if cell.cell_type == "code" else []
        title = ", ".join(dict.fromkeys(check["title"] for check in checks)) or name_of(cell)
        section = numbered.get(checks[0]["section"], f"section {checks[0]['section']}") if checks else last
        words[name_of(cell)] = Wording(title, section)
    return words


def _headings(cell: NotebookNode) -> list[re.Match[str]]:
    return list(HEADING.finditer(cell.source)) if cell.cell_type == "markdown" else []
