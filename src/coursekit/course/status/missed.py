"""What a class missed in a lab, the property that most students missed first, in the lab's own words."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from coursekit.course.status.points import GradedCell, LabPoints
from coursekit.grading.submission.students_files import RefusedFileError, read_file
from coursekit.labs.cells import cell_name, error_in

NUM_CHARACTERS = 300  # of a message
CHECK = re.compile(r"""\bcheck\(\s*(["'])(?P<title>.+?)\1,\s*section=(["'])(?P<section>.+?)\3""")
HEADING = re.compile(r"^#{1,2} (?P<text>.+?)(?: \(\d+ minutes?\))?$", re.MULTILINE)
SECTION_NUMBER = re.compile(r"(?P<number>[\w.]+)\. ")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


@dataclass(frozen=True)
class GradedNotebook:
    """One graded notebook; both by name of a cell with points.

    Attributes:
        messages: What the test said.
        tests: Text and points of the cell as it was graded.
    """

    messages: Mapping[str, str] = field(default_factory=dict)
    tests: Mapping[str, tuple[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Property:
    """One graded cell of a lab over the class.

    Attributes:
        name: The cell's.
        title: The property's name; the cell's own where no check names one.
        section: Heading of the lab's section that explains it; '' if no section does.
        max_points: Its points now.
        num_graded: Students who have points for it, be it 0.
        num_missed: Those of them who have less than all points.
        points: Points of all who are graded, each at most the cell's.
        num_waiting: Students whose answer waits for a person.
        example: A message that most of those share who missed a test, apart from numbers.
        num_alike: How many share it.
    """

    lab: str
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

    @property
    def share(self) -> float:
        """The part of those graded who missed it."""
        return self.num_missed / self.num_graded if self.num_graded else 0.0

    @property
    def mean_points(self) -> float:
        """Mean of the points of those graded."""
        return self.points / self.num_graded if self.num_graded else 0.0


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
    found = []
    for cell in cells:
        if not cell.max_points:
            continue
        given = {student: one.points[cell.name] for student, one in graded.items() if cell.name in one.points}
        known = {
            student: max(0.0, min(value, cell.max_points)) for student, value in given.items() if value is not None
        }
        missed = [student for student, value in known.items() if value < cell.max_points]
        example, num_alike = most_common([notebooks[student].messages.get(cell.name, "") for student in missed])
        title, section = words.get(cell.name, (cell.name, ""))
        one = Property(
            lab=cell.lab,
            name=cell.name,
            title=title,
            section=section,
            max_points=cell.max_points,
            num_graded=len(known),
            num_missed=len(missed),
            points=sum(known.values()),
            num_waiting=len(given) - len(known),
            example=example,
            num_alike=num_alike,
        )
        found.append(one)
    return tuple(sorted(found, key=lambda one: (-one.share, order.get(one.name, len(order)))))


def most_common(messages: Sequence[str]) -> tuple[str, int]:
    """Return a message that most share, and how many do; numbers differ from run to run, as inputs are random."""
    messages = [message for message in messages if message]
    if not messages:
        return "", 0
    shapes = [NUMBER.sub("#", message) for message in messages]
    shape, num_alike = Counter(shapes).most_common(1)[0]
    return messages[shapes.index(shape)], num_alike


def wordings(notebook: NotebookNode) -> Mapping[str, tuple[str, str]]:
    """Return by name of a cell its title and section, for every cell of a released notebook that nbgrader knows."""
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


def read_graded(folder: Path, lab: str) -> GradedNotebook:
    """Read `autograded/<student>/<lab>`; a notebook that cannot be read gives an empty record."""
    try:
        cells = [cell for cell in json.loads(read_file(folder, f"{lab}.ipynb"))["cells"] if _marks(cell).get("grade")]
        messages = {_marks(cell)["grade_id"]: message for cell in cells if (message := error_in(cell)[:NUM_CHARACTERS])}
        tests = {_marks(cell)["grade_id"]: ("".join(cell["source"]), float(_marks(cell)["points"])) for cell in cells}
    except (RefusedFileError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return GradedNotebook()
    return GradedNotebook(messages, tests)


def has_former_tests(graded: GradedNotebook, cells: Sequence[GradedCell], released: Mapping[str, str]) -> bool:
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


def _marks(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    marks: Mapping[str, Any] = cell.get("metadata", {}).get("nbgrader", {})
    return marks
