"""A checkout with two tiny labs, and a course made from it: released once, copied for each test."""

import json
import os
import shutil
from contextlib import contextmanager
from copy import deepcopy
from datetime import datetime, timedelta, timezone

import nbformat
import pytest
from click.testing import CliRunner

from coursekit.cli import cli
from coursekit.course.collect import collect
from coursekit.course.folder import find_course
from coursekit.course.init import init_course
from coursekit.course.record import record
from coursekit.course.release import release
from coursekit.course.versions import read_submission
from coursekit.errors import CourseKitError
from coursekit.grading.verdict import Verdict
from coursekit.labs.build.build import build_release
from coursekit.labs.cells import CellScore
from coursekit.labs.lab import find_labs

from ..made_labs import add_lab

LAB = '''
# %% [markdown] role="readonly" id="intro"
# # A small lab

# %% id="parameters" tags=["parameters"]
num_samples = 6

# %% role="answer" id="shard"
def shard(x, rank, size):
    """Return the part of `x` that belongs to this rank (about 1 line)."""
    ### BEGIN SOLUTION
    return x[rank::size]
    ### END SOLUTION

# %% role="answer" id="mean"
def mean(x):
    """Return the mean of `x` (about 1 line)."""
    ### BEGIN SOLUTION
    return sum(x) / len(x)
    ### END SOLUTION

# %% role="tests" id="shard-tests" points=2
assert len(shard(list(range(6)), 0, 2)) == 3, "half of the samples belong to each of two ranks"
### BEGIN HIDDEN TESTS
assert shard([71, 72, 73], 1, 2) == [72], "the shards of two ranks must be disjoint"
### END HIDDEN TESTS

# %% role="tests" id="mean-tests" points=1
assert mean([1, 2, 6]) == 3, "the mean of 1, 2 and 6 is 3"

# %% [markdown] role="manual" id="explain" points=4
# The manual answer of the solution.
'''

OTHER_LAB = '''
# %% role="readonly" id="imports" tags=["script"]
import horovod.tensorflow as hvd

# %% role="answer" id="double" tags=["script"]
def double(x):
    """Return twice `x` (about 1 line)."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% role="readonly" id="script" tags=["script"]
def main():
    hvd.init()
    return double(2)

# %% role="tests" id="double-tests" points=1
assert double(2) == 4, "twice 2 is 4"
'''
ROSTER = "id,first_name,last_name,email,lms_user_id\nada,Ada,Lovelace,ada@example.org,1001\nbob,Bob,Builder,,1002\n"
NAME = "01-small"
RIGHT = {
    "shard": "def shard(x, rank, size):\n    return x[rank::size]",
    "mean": "def mean(x):\n    return sum(x) / len(x)",
    "explain": "Each rank takes every size-th sample.",
}
MONDAY = datetime(2026, 11, 16, 12, 0)  # noqa: DTZ001 - UTC without an offset, as nbgrader keeps times


@pytest.fixture(scope="session")
def checkout(tmp_path_factory):
    """The checkout with its labs built."""
    root = tmp_path_factory.mktemp("checkout")
    for name, text in ((NAME, LAB), ("02-other", OTHER_LAB)):
        add_lab(root, name, text)
    build_release(root, find_labs(root))
    (root / "students").mkdir()
    (root / "students" / "AGENTS.md").write_text("Ask back.\n")
    return root


@pytest.fixture(scope="session")
def released_course(checkout, tmp_path_factory):
    """A course with both labs released, never to be changed."""
    folder = tmp_path_factory.mktemp("released") / "course"
    roster = folder.parent / "roster.csv"
    roster.write_text(ROSTER)
    course = init_course(checkout, folder, "dl", roster).course
    for lab in find_labs(checkout):
        release(course, lab)
    for file in ("course.toml", "nbgrader_config.py"):  # made before what the tests hand in, whenever they run
        os.utime(folder / file, (later(-100).replace(tzinfo=timezone.utc).timestamp(),) * 2)
    return folder


@pytest.fixture
def course(checkout, released_course, tmp_path, monkeypatch):
    """A copy of the released course, found by every command through COURSEKIT_ROOT and --course."""
    folder = tmp_path / "course"
    shutil.copytree(released_course, folder)
    monkeypatch.setenv("COURSEKIT_ROOT", str(checkout))
    return find_course(checkout, folder)


@pytest.fixture
def graded_checkout(course, graded, own_checkout, monkeypatch):
    """The checkout of one's own, with a hand-in of ada and its full points in the course."""
    graded("ada")
    shutil.rmtree(own_checkout / "course")
    return _with_course(own_checkout, course.folder, monkeypatch)


@pytest.fixture
def own_checkout(checkout, released_course, tmp_path, monkeypatch):
    """A checkout of one's own with the course in it, as most people have it."""
    root = tmp_path / "own"
    shutil.copytree(checkout, root)
    return _with_course(root, released_course, monkeypatch)


def _with_course(root, folder, monkeypatch):
    shutil.copytree(folder, root / "course")
    (root / "course" / "nbgrader_config.py").unlink()
    init_course(root, root / "course", None, None)
    monkeypatch.setenv("COURSEKIT_ROOT", str(root))
    return root


@pytest.fixture
def hand_in(course):
    """Return a function that puts a folder into the exchange as a student's own `nbgrader submit` would."""

    def put(  # noqa: PLR0913, PLR0917 - all that a student may do differently
        student="ada", lab=NAME, answers=RIGHT, at=MONDAY, notebook=None, name=None, files=()
    ):
        time = f"{at:%Y-%m-%d %H:%M:%S.%f} UTC"
        inbound = course.folder / "exchange" / "dl" / "inbound"
        number = len(list(inbound.iterdir()))
        folder = inbound / f"{student}+{lab}+{time}+random{number}"
        folder.mkdir()
        if notebook is None:
            notebook = nbformat.writes(filled(course, lab, answers))
        if notebook:
            (folder / (name or f"{lab}.ipynb")).write_text(notebook)
        (folder / "timestamp.txt").write_text(time)
        (folder / "submission_secret.txt").write_text(f"secret of {student}")
        for path, content in dict(files).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content)
        return folder

    return put


@pytest.fixture
def enrol(course):
    """Return a function that puts students onto the roster of ada and bob."""

    def add(*students):
        roster = course.folder.parent / "more.csv"
        roster.write_text("\n".join(["id", *students]))
        init_course(course.root, course.folder, None, roster)

    return add


@pytest.fixture
def graded(course, hand_in):
    """Return a function that hands in for a student, collects, and records points."""

    def put(student, points=(2, 1), messages=("", ""), *, manual=None, **what):
        hand_in(student, **what)
        collect(course, NAME)
        record(course, verdict(student, points, messages), read_submission(course, NAME, student))
        if manual is not None:
            with course.gradebook() as gradebook:
                found = gradebook.find_grade("explain", NAME, NAME, student)
                found.manual_score, found.needs_manual_grade = manual, False
                gradebook.db.commit()

    return put


@pytest.fixture
def call(course):
    """Return a function that calls `coursekit` on the course and returns exit status and lines, or raises its error."""

    def run(*words, **environ):
        words = [*map(str, words), "--course", str(course.folder)]
        result = CliRunner(env=environ).invoke(cli, words, catch_exceptions=False)
        return result.exit_code, result.output.splitlines()

    return run


def edit(course, added="", replaced=("\0", "")):
    """Add to the settings, or replace something in them, and return the course with these."""
    settings = course.folder / "course.toml"
    settings.write_text(settings.read_text().replace(*replaced) + added)
    return find_course(course.root, course.folder)


@contextmanager
def refused(*parts):
    """Expect one error that names these parts: paths, names, numbers, commands."""
    with pytest.raises(CourseKitError) as caught:
        yield
    assert all(part in str(caught.value) for part in parts), caught.value


def filled(course, lab, answers):
    """Return the released notebook with these answers."""
    notebook = deepcopy(course.released(lab))
    for cell in notebook.cells:
        cell.source = answers.get(cell.id, cell.source)
    return notebook


def verdict(student="ada", points=(2, 1), messages=("", ""), **more):
    """Return a verdict on the small lab."""
    names = ("shard-tests", "mean-tests")
    scores = tuple(CellScore(*row) for row in zip(names, map(float, points), (2.0, 1.0), messages))
    return Verdict(NAME, student, scores, **more)


def answer(text):
    """Return answers of which `mean` returns this."""
    return {**RIGHT, "mean": f"def mean(x):\n    return {text}"}


def to_be_graded(course, student="ada"):
    """Return what the answer `mean` returns that would be graded."""
    return read_submission(course, NAME, student).cells.answers["mean"].partition("return ")[2]


def later(hours):
    """Return a time after Monday noon."""
    return MONDAY + timedelta(hours=hours)


def tree(folder):
    """Return every file below a folder: path to content; a link to where it points."""
    paths = (path for path in folder.rglob("*") if path.is_symlink() or path.is_file())
    return {
        path.relative_to(folder).as_posix(): str(path.readlink()) if path.is_symlink() else path.read_bytes()
        for path in paths
    }


def job_record(**more):
    """Return the text of a record as `coursekit execute` writes it."""
    facts = {"host": "login", "nodes": "acn[01-02]", "job_id": "4711"}
    record = {"lab": NAME, "num_ranks": 2, "time_s": 12.5, "points": 3, "started": "2026-11-16T11:00:00+00:00"}
    return json.dumps({**record, "facts": facts, **more})
