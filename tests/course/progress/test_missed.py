"""What a class missed: names and sections from the lab, the order, the words, and tests that changed meanwhile."""

from __future__ import annotations

import shutil

import nbformat
import pytest

from coursekit.course.folder import find_course
from coursekit.course.progress.graded_notebooks import GradedNotebook, read_graded
from coursekit.course.progress.missed import describe, find_missed, wordings
from coursekit.course.progress.points import GradedCell, LabPoints
from coursekit.course.progress.progress import read_class
from coursekit.course.progress.summary import notes
from coursekit.course.release import release
from coursekit.course.report.properties import Property, Wording, draw
from coursekit.labs.build.build import build_release
from coursekit.labs.lab import find_labs
from coursekit.paths import find_root

from .conftest import NAME, NASTY, steps

DISJOINT = "AssertionError: rank {} has the samples of rank 0"


def test_wordings_of_the_labs():
    """A check's own name and its section's heading; every test cell of the real labs has both."""
    root = find_root()
    path = root / "labs" / "02-horovod-sgd" / "02-horovod-sgd.ipynb"
    words = wordings(nbformat.read(path, as_version=4))
    assert words["shard-tests"] == Wording("shards", "3. Shard the data")
    assert words["horovod-average-tests"] == Wording("averaged gradients (train_horovod)", "5. Average the gradients")
    for lab in find_labs(root):
        released = nbformat.read(root / "labs" / lab.name / f"{lab.name}.ipynb", as_version=4)
        words = wordings(released)
        tests = [
            words[cell.metadata.nbgrader.grade_id]
            for cell in released.cells
            if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade")
        ]
        assert tests
        assert all(one.section[0].isdigit() and not one.title.endswith("-tests") for one in tests), tests


def test_the_most_missed_stands_first():
    """By the part of those graded, then as the lab has them; who waits is not graded; too many points count as all."""
    cells = [GradedCell("lab", name, points, name == "essay") for name, points in (("b", 2), ("a", 1), ("essay", 4))]
    released = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", id=name) for name in ("b", "a", "essay")])
    graded = {
        "ada": LabPoints({"b": 2.0, "a": 0.0, "essay": None}, waits=True),
        "bob": LabPoints({"b": 3.0, "a": 0.0, "essay": 1.5}),
        "cyd": LabPoints({"b": 0.0, "a": 1.0, "essay": 4.0}),
    }
    messages = {"ada": {"a": DISJOINT.format(1)}, "bob": {"a": DISJOINT.format(2)}, "cyd": {"b": "no"}}
    notebooks = {student: GradedNotebook(told) for student, told in messages.items()}
    found = find_missed(cells, graded, notebooks, released)
    assert found == (
        Property("lab", "a", 1, Wording("a"), 3, 2, 1.0, 0, DISJOINT.format(1), 2),
        Property("lab", "essay", 4, Wording("essay"), 2, 1, 5.5, 1),
        Property("lab", "b", 2, Wording("b"), 3, 1, 4.0, 0, "no", 1),
    )
    assert describe("lab", found) == (
        "Bars of the points that the class earned and missed in lab, most missed first. "
        "Students who missed: a: 2 of 3; essay: 1 of 2; b: 1 of 3."
    )
    assert [(one.share, one.mean_points) for one in found] == [(2 / 3, 1 / 3), (1 / 2, 2.75), (1 / 3, 4 / 3)]


def test_what_nobody_has_yet_is_no_bar():
    """A manual cell that waits for everybody is in the table and not in the picture."""
    waiting = Property("lab", "essay", 4, Wording("essay"), 0, 0, 0.0, 3)
    assert "essay" not in draw([waiting], describe("lab", [waiting]), ("earned", "missed"))
    assert (waiting.share, waiting.mean_points) == (0, 0)


def test_messages_come_from_graded_notebooks(course, labs, grade):
    """What most of those who missed a test were told, as they saw it."""
    grade("ada", (0, 1), (DISJOINT.format(1), ""))
    grade("bob", (0, 0), (DISJOINT.format(3), NASTY))
    found = {one.name: (one.num_missed, one.example, one.num_alike) for one in read_class(course, labs).labs[0].missed}
    assert found["shard-tests"] == (2, DISJOINT.format(1), 2)
    assert found["mean-tests"] == (1, NASTY, 1)
    anonymous = read_class(course, labs, anonymous=True).labs[0].missed
    assert {(one.example, one.num_alike) for one in anonymous} == {("", 0)}


@pytest.mark.parametrize("text", [None, "", "[1]", '{"cells": [{"metadata": {"nbgrader": {"grade": true}}}]}'])
def test_a_graded_notebook_that_is_damaged_tells_nothing(tmp_path, text):
    """Points come from the gradebook; a message that is lost costs nothing else."""
    if text is not None:
        (tmp_path / f"{NAME}.ipynb").write_text(text)
    assert read_graded(tmp_path, NAME) == GradedNotebook()


@pytest.mark.parametrize(
    ("old", "new"), [("points=2", "points=5"), ("half of the samples belong", "one half of the samples belongs")]
)
def test_tests_that_changed_are_told(course, labs, grade, tmp_path, old, new):  # noqa: PLR0913, PLR0917  # fixtures
    """A lab released again with other tests or points: what was graded before still counts as it was, and is named."""
    grade("ada")
    assert read_class(course, labs).labs[0].num_former == 0
    root = tmp_path / "checkout"
    shutil.copytree(course.root, root)
    source = root / "solutions" / NAME / f"{NAME}.py"
    source.write_text(source.read_text().replace(old, new))
    config = course.folder / "nbgrader_config.py"
    config.write_text(config.read_text().replace(str(course.root), str(root)))
    build_release(root, find_labs(root))
    changed = find_course(root, course.folder)
    release(changed, find_labs(root)[0], force=True)
    found = read_class(changed, find_labs(root))
    assert found.labs[0].num_former == 1
    assert found.labs[0].max_points == (10 if old == "points=2" else 7)
    assert steps(found, "ada") == "y?yy"
    assert found.labs[0].progress["ada"].points == 3
    (note,) = (note for note in notes(found) if "changed" in note)
    assert note.startswith(
        f"{NAME}: tests or points changed after grading, and 1 hand-in still counts as it was graded"
    )
