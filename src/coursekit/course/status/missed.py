"""What a class missed in a lab, cell by cell, in the lab's own words."""

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

NUM_CHARACTERS = 300  # kept of a message
CHECK = re.compile(r"""\bcheck\(\s*(["'])(?P<title>.+?)\1,\s*section=(["'])(?P<section>.+?)\3""")
HEADING = re.compile(r"^#{1,2} (?P<text>.+?)(?: \(\d+ minutes?\))?$", re.MULTILINE)
SECTION_NUMBER = re.compile(r"(?P<number>[\w.]+)\. ")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


@dataclass(frozen=True)
class Property:
    """One graded cell of a lab across the class.

    Attributes:
        name: The cell's name.
        title: The property's name; the cell's name if no check names a property.
        section: Heading of the lab's section that explains it; '' if no section does.
        max_points: Its maximum points now.
        num_graded: Number of students who have points for it, even 0.
        num_missed: Number of those students who have less than full points.
        points: Sum of the points of all graded students; each adds at most the cell's maximum.
        num_waiting: Number of students whose answer waits for manual points.
        example: The most common message among those who missed it; messages that differ only in numbers count as one.
        num_alike: How many students share that message.
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
    """Return every cell with points, beginning with the one that most students missed; ties are in the lab's order.

    All arguments are about one lab: maximum points by cell, grades by student, and the tests' messages by student and
    cell. `released` is the students' version, from which names and sections come, or None if it was never built.
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
    """Return the most common message and its count; numbers in messages are ignored, because inputs are random."""
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
    """Return the tests' messages in `autograded/<student>/<lab>`, keyed by cell; empty if they cannot be read."""
    try:
        cells = json.loads(read_file(folder, f"{lab}.ipynb"))["cells"]
        marks = [(cell, cell["metadata"].get("nbgrader", {})) for cell in cells]
        return {mark["grade_id"]: error_in(cell)[:NUM_CHARACTERS] for cell, mark in marks if mark.get("grade")}
    except (RefusedFileError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
