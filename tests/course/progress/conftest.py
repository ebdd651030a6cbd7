"""A class in the small course: its fixtures are those of tests/course."""

from __future__ import annotations

import json

import nbformat
import pytest

from coursekit.course.collect import collect
from coursekit.course.init import init_course
from coursekit.course.record import record
from coursekit.course.submitted import read_hand_in
from coursekit.labs.lab import find_labs

from ..conftest import NAME, RIGHT, filled, verdict

OTHER = "02-other"
NASTY = "<script>alert(1)</script>\x1b[31m\u202e [bold red]x[/]"


@pytest.fixture
def labs(checkout):
    """The labs of the checkout, as the command line selects them."""
    return find_labs(checkout)


@pytest.fixture
def enrol(course):
    """Return a function that puts students onto the roster of ada and bob."""

    def add(*students):
        roster = course.folder.parent / "more.csv"
        roster.write_text("\n".join(["id", *students]))
        init_course(course.root, course.folder, None, roster, None)

    return add


@pytest.fixture
def grade(course, hand_in):
    """Return a function that hands in for a student, collects, and records points."""

    def put(student, points=(2, 1), messages=("", ""), *, manual=None, **what):
        hand_in(student, **what)
        collect(course, NAME)
        record(course, verdict(student, points, messages), read_hand_in(course, NAME, student))
        if manual is not None:
            with course.gradebook() as gradebook:
                found = gradebook.find_grade("explain", NAME, NAME, student)
                found.manual_score, found.needs_manual_grade = manual, False
                gradebook.db.commit()

    return put


@pytest.fixture
def executed(course):
    """Return a function that makes the text of a notebook with this many executed cells."""

    def text(num_run, answers=RIGHT):
        notebook = filled(course, NAME, answers)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        for i, cell in enumerate(code[:num_run]):
            cell.execution_count = i + 1
        return nbformat.writes(notebook)

    return text


def steps(found, student, lab=NAME):
    """Return the four steps of a student as one text: y yes, n not yet, ? not known."""
    (progress,) = (one.progress[student] for one in found.labs if one.lab.name == lab)
    return "".join({True: "y", False: "n", None: "?"}[done] for done in progress.steps)


def job_result(lab=NAME):
    """Return the text of a job's record."""
    return json.dumps({"lab": lab, "num_ranks": 2, "time_s": 1.0, "points": 1, "facts": {"job_id": "7"}})
