"""A made class over the real labs: what is handed in is of every kind, and grading says of each what it must."""

from collections import Counter
from pathlib import Path

import pytest

from coursekit.course.init import init_course
from coursekit.course.release import release
from coursekit.course.versions import find_submissions
from coursekit.labs.lab import find_labs
from workshop.bench.generated_class import HANGING, HOSTILE, KINDS, RIGHT, WRONG, generate_class

from ...course.conftest import tree

ROOT = Path(__file__).parents[3]
LABS = [lab.name for lab in find_labs(ROOT)]


@pytest.fixture(scope="module")
def empty_course(tmp_path_factory):
    """A course with the real labs released."""
    course = init_course(ROOT, tmp_path_factory.mktemp("made") / "course", "made", None).course
    for lab in find_labs(ROOT):
        release(course, lab)
    return course


def test_a_class_has_every_kind_in_every_lab(empty_course):
    """Six hand-ins of each lab: two right, two wrong, one that hangs, one hostile; no two alike, repeatable by seed."""
    num_students = len(KINDS) * len(LABS)
    made = generate_class(empty_course, num_students, seed=1)
    assert Counter((one.lab, one.kind) for one in made) == {
        (lab, kind): num for lab in LABS for kind, num in ((RIGHT, 2), (WRONG, 2), (HANGING, 1), (HOSTILE, 1))
    }
    found = find_submissions(empty_course, LABS)
    assert {(one.student, one.lab) for one in found} == {(one.student, one.lab) for one in made}
    assert all(one.notebook and one.timestamp and not one.flags and not one.notes for one in found)
    files = tree(empty_course.folder / "submitted")
    notebooks = [data for name, data in files.items() if name.endswith(".ipynb")]
    assert len(set(notebooks)) == num_students
    assert not any(b"### BEGIN" in data or b"HIDDEN TESTS" in data for data in notebooks)
    assert generate_class(empty_course, num_students, seed=1) == made
    assert tree(empty_course.folder / "submitted") == files
    assert generate_class(empty_course, num_students, seed=2) != made
