"""Find out which graded cells of a lab a class missed, and describe them in the lab's own words."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from coursekit.course.status.points import LabPoints
from coursekit.grading.submission.students_files import RefusedFileError, read_file
from coursekit.labs.cells import cell_name, error_in

NUM_CHARACTERS = 300  # how much of a message is kept
CHECK = re.compile(r"""\bcheck\(\s*(["'])(?P<title>.+?)\1,\s*section=(["'])(?P<section>.+?)\3""")
HEADING = re.compile(r"^#{1,2} (?P<text>.+?)(?: \(\d+ minutes?\))?$", re.MULTILINE)
SECTION_NUMBER = re.compile(r"(?P<number>[\w.]+)\. ")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


@dataclass(frozen=True)
class Property:
    """The results of the whole class for one graded cell of a lab.

    Attributes:
        name: The cell's name.
        title: The name of the property that the cell checks; the cell's own name if it contains no named check.
        section: Heading of the section of the lab that explains this property; '' if there is no such section.
        max_points: The cell's maximum points at present.
        num_graded: Number of students who have been given points for the cell, including 0 points.
        num_missed: Number of students with fewer than the maximum points, among those graded.
        points: Sum of the points of all graded students; no student adds more than the cell's maximum.
        num_waiting: Number of students whose answer waits for manual points.
        example: The most common message to students who missed the cell; messages that differ only in numbers count as
            one.
        num_alike: Number of students who got that message.
    """

    name: str
    title: str
    section: str
    max_points: float
    num_graded: int
    num_missed: int
    points: float
    num_waiting: int = 0
    example: str = ""
    num_alike: int = 0


def find_missed(
    max_points: Mapping[str, float],
    graded: Mapping[str, LabPoints],
    messages: Mapping[str, Mapping[str, str]],
    released: NotebookNode | None,
) -> tuple[Property, ...]:
    """Return a `Property` for every cell with points, beginning with the cell missed by the most students.

    Cells missed by the same number of students keep the lab's order. All arguments are about one lab: maximum points by
    cell, grades by student, and the tests' messages by student and cell. `released` is the students' version of the
    notebook, which provides the names and sections; it is None if the lab was never built.
    """
    words = wordings(released) if released else {}
    order = {name: i for i, name in enumerate(words)}
    found = []
    for name, most in max_points.items():
        if not most:
            continue
        given = {student: one.points[name] for student, one in graded.items() if name in one.points}
        known = {student: max(0.0, min(value, most)) for student, value in given.items() if value is not None}
        missed = [student for student, value in known.items() if value < most]
        example, num_alike = _most_common([messages[student].get(name, "") for student in missed])
        title, section = words.get(name, (name, ""))
        one = Property(
            name=name,
            title=title,
            section=section,
            max_points=most,
            num_graded=len(known),
            num_missed=len(missed),
            points=sum(known.values()),
            num_waiting=len(given) - len(known),
            example=example,
            num_alike=num_alike,
        )
        found.append(one)
    return tuple(
        sorted(found, key=lambda one: (-one.num_missed / max(one.num_graded, 1), order.get(one.name, len(order))))
    )


def _most_common(messages: Sequence[str]) -> tuple[str, int]:
    """Return the most common message, and how often it occurs.

    Messages that differ only in their numbers count as the same, because the tests' inputs are random.
    """
    messages = [message for message in messages if message]
    if not messages:
        return "", 0
    shapes = [NUMBER.sub("#", message) for message in messages]
    shape, num_alike = Counter(shapes).most_common(1)[0]
    return messages[shapes.index(shape)], num_alike


def wordings(notebook: NotebookNode) -> Mapping[str, tuple[str, str]]:
    """Return the title and section of each nbgrader cell in a released notebook, keyed by the cell's name."""
    headings = [found["text"].strip() for cell in notebook.cells for found in _headings(cell)]
    numbered = {found["number"]: heading for heading in headings if (found := SECTION_NUMBER.match(heading))}
    words, last = {}, ""
    for cell in notebook.cells:
        last = next((found["text"].strip() for found in reversed(_headings(cell))), last)
        checks = list(CHECK.finditer(cell.source)) if cell.cell_type == "code" else []
        title = ", ".join(dict.fromkeys(check["title"] for check in checks)) or cell_name(cell)
        section = numbered.get(checks[0]["section"], f"section {checks[0]['section']}") if checks else last
        words[cell_name(cell)] = (title, section)
    return words


def _headings(cell: NotebookNode) -> list[re.Match[str]]:
    return list(HEADING.finditer(cell.source)) if cell.cell_type == "markdown" else []


def read_messages(folder: Path, lab: str) -> dict[str, str]:
    """Return the tests' messages from `autograded/<student>/<lab>`, keyed by cell; {} if they cannot be read."""
    try:
        cells = json.loads(read_file(folder, f"{lab}.ipynb"))["cells"]
        marks = [(cell, cell["metadata"].get("nbgrader", {})) for cell in cells]
        return {mark["grade_id"]: error_in(cell)[:NUM_CHARACTERS] for cell, mark in marks if mark.get("grade")}
    except (RefusedFileError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
