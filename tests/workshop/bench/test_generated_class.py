"""A made class over the real labs: what is handed in is of every kind, and grading says of each what it must."""

import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from coursekit.cli.grade import grade
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


@pytest.mark.needs("bwrap")
def test_grading_says_what_it_must(empty_course, monkeypatch):
    """Of each kind of lab 01: the tests that must pass give their points, those that must fail give none."""
    monkeypatch.setenv("COURSEKIT_ROOT", str(ROOT))
    made = {one.student: one for one in generate_class(empty_course, 2 * len(KINDS), seed=3, labs=["01"])}
    words = ["01", "--timeout-s", "12", "--course", str(empty_course.folder)]
    words += [word for student in made for word in ("--student", student)]
    result = CliRunner().invoke(grade, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    verdicts = [json.loads(path.read_bytes()) for path in (empty_course.folder / "verdicts").rglob("*.json")]
    for one in verdicts:
        expected = made[one["student"]]
        passed = {score["grade_id"] for score in one["scores"] if not score["message"]}
        failed = {score["grade_id"] for score in one["scores"] if score["message"]}
        assert expected.passes <= passed, expected
        assert expected.fails <= failed, expected
        assert expected.kind != HOSTILE or one["flags"], expected
    assert len(verdicts) == 12
