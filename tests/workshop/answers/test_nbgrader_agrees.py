"""Our points are those of a real nbgrader with a real gradebook."""

import shutil

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory

from coursekit.grading.judge.pool import PoolSettings
from coursekit.labs.points import nbgrader_settings
from workshop.answers.answer_bank import BankAnswer
from workshop.answers.run_answers import run_bank

# nbgrader's own habits with its database and with cells that it restores.
pytestmark = pytest.mark.filterwarnings(
    "ignore::sqlalchemy.exc.SAWarning", "ignore::nbformat.warnings.MissingIDFieldWarning"
)

LAB = "01-small"
TESTS = ["shard-tests", "mean-tests", "path-tests"]
FULL_POINTS = {"shard-tests": 2, "mean-tests": 1, "path-tests": 0.5}

LOST = "a cell that the student deleted"
UNFILLED = {"shard": 'raise NotImplementedError("not yet")', "mean": "# left blank"}
FIRST_HALF = {"shard": "def shard(x, rank, size):\n    return x[: len(x) // size]"}
NOISY = {
    "mean": """
import os, sys, warnings
def mean(x):
    warnings.warn("a library has something to say")
    print(file=sys.stderr)
    os.write(2, b"and so has its C++ part\\n")
    return sum(x) / len(x)
"""
}
CLASS = {
    "solves": ({}, FULL_POINTS),
    "leaves-blank": (UNFILLED, {"shard-tests": 0, "mean-tests": 0, "path-tests": 0.5}),
    "takes-first-half": (FIRST_HALF, {**FULL_POINTS, "shard-tests": 0}),
    "is-noisy": (NOISY, FULL_POINTS),
}


class Event:
    """A course of nbgrader's with the small lab released, and a gradebook."""

    def __init__(self, root, source):
        self.root, self.source = root, source
        shutil.copytree(source.parent, root / "source" / LAB)
        self.database = f"sqlite:///{root}/gradebook.db"
        self._succeed(self._api(nbgrader_settings()).generate_assignment(LAB))

    def autograde(self, student, cells, config):
        """Hand a notebook with these answers in, autograde it, and return the points of each test."""
        submitted = self.root / "submitted" / student / LAB
        shutil.copytree(self.root / "release" / LAB, submitted)
        self._fill(submitted / f"{LAB}.ipynb", cells)
        self._succeed(self._api(config).autograde(LAB, student))
        with Gradebook(self.database) as gradebook:
            return {test: gradebook.find_grade(test, LAB, LAB, student).auto_score for test in TESTS}

    def _api(self, config):
        config.CourseDirectory.root = str(self.root)
        config.CourseDirectory.db_url = self.database
        return NbGraderAPI(CourseDirectory(config=config), config=config)

    def _fill(self, path, cells):
        """Write answers, or the solution where there is none, into a released notebook."""
        solution = {cell.id: cell.source for cell in nbformat.read(self.source, as_version=4).cells}
        notebook = nbformat.read(path, as_version=4)
        notebook.cells = [cell for cell in notebook.cells if cell.id != cells.get(LOST)]
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source = cells.get(cell.id, solution[cell.id])
        nbformat.write(notebook, path)

    @staticmethod
    def _succeed(outcome):
        assert outcome["success"], outcome


@pytest.fixture(scope="module")
def event(make_course, tmp_path_factory):
    """One course for all these tests, since making a gradebook takes seconds."""
    _, source = make_course(tmp_path_factory.mktemp("course"))
    return Event(tmp_path_factory.mktemp("event"), source)


@pytest.fixture(scope="module")
def ours(event):
    """Points per test by student, from our own judge."""
    results = run_bank(
        [BankAnswer(name, "", {}, cells) for name, (cells, _) in CLASS.items()], event.source, PoolSettings()
    )
    return {one.answer.name: {score.grade_id: score.points for score in one.scores} for one in results}


@pytest.mark.parametrize("student", CLASS)
def test_points_are_those_of_the_gradebook(event, ours, student):
    """Solved, left as released, wrong, and right with text on stderr: the same points per test, ours and nbgrader's."""
    cells, points = CLASS[student]
    settings = nbgrader_settings()
    settings.Execute.timeout = 60
    theirs = event.autograde(student, cells, settings)

    assert ours[student] == theirs == points


def test_without_our_settings_noise_costs_points(event):
    """The cure is needed: as it comes, nbgrader takes the points of a right answer that writes to stderr."""
    as_it_comes = nbgrader_settings()
    del as_it_comes.IgnorePattern

    assert event.autograde("is-punished", NOISY, as_it_comes) == {**FULL_POINTS, "mean-tests": 0}


def test_a_deleted_test_comes_back(event):
    """A student who lost a test cell is graded on it all the same, and no point is lost."""
    assert event.autograde("loses-a-cell", {LOST: "mean-tests"}, nbgrader_settings()) == FULL_POINTS
