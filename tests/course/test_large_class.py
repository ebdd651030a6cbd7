"""A class of 300 with small hand-ins, in a real gradebook: what is printed fits a screen, and no page is large.

What it takes is measured by `workshop bench sizes`.
"""

import nbformat
import pytest

from coursekit.course.collect import collect
from coursekit.course.folder import find_course
from coursekit.course.grade import VERDICTS, stage
from coursekit.files import write_file
from coursekit.grading.judge.pool import PoolSettings

from .conftest import NAME, RIGHT, filled, verdict

NUM_STUDENTS = 300
DAMAGED, RIGHT_ONE = "student-008", "student-009"
MOST_BYTES, MOST_LINES = 1_000_000, 60


@pytest.fixture
def class_of_300(course, enrol, hand_in):
    """All but one have handed in: one a damaged file, the rest the same right answers, whose verdict is saved."""
    students = [f"student-{number:03}" for number in range(NUM_STUDENTS)]
    enrol(*students)
    with (course.folder / "nbgrader_config.py").open("a") as config:
        config.write("\nc.ExchangeCollect.check_owner = False\n")  # all files here are of one account
    notebook = nbformat.writes(filled(course, NAME, RIGHT))
    for student in students[1:]:
        hand_in(student, notebook="{ damaged" if student == DAMAGED else notebook)
    now = find_course(course.root, course.folder)
    collect(now, NAME)
    source = course.root / "build" / "source" / NAME / f"{NAME}.ipynb"
    (one,) = stage(now, {NAME: source}, students[-1:], PoolSettings())
    key = one.key
    write_file(course.folder / VERDICTS / key[:2] / f"{key}.json", verdict(key=key).dumps().encode())


@pytest.mark.usefixtures("class_of_300")
def test_a_class_of_300_fits_a_screen_and_a_page(course, call):
    """What records points, status, page and export say is little, and the damaged file is still named."""
    page, table = course.folder / "class.html", course.folder / "grades-csv.csv"
    said = {}
    for words in (("grade", "01"), ("course", "status", "01", "--html", page), ("course", "export")):
        status, lines = call(*words)
        assert (status, len(lines) <= MOST_LINES) == (0, True), lines
        said[words[:2]] = "\n".join(lines)
    (report,) = (course.folder / "reports").glob("grading-*.html")
    assert max(path.stat().st_size for path in (page, table, report)) < MOST_BYTES
    assert len(table.read_text(encoding="utf-8-sig").splitlines()) == NUM_STUDENTS + 3
    for words in (("grade", "01"), ("course", "status")):
        assert [name in said[words] for name in (DAMAGED, RIGHT_ONE)] == [True, False], said[words]
    assert RIGHT_ONE in page.read_text()
    assert f"{NUM_STUDENTS - 2} graded" in said["grade", "01"]
