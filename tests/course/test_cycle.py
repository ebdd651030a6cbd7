"""The whole course for two students: their own nbgrader commands, our verbs, a verdict, and feedback back again."""

from __future__ import annotations

import os
import subprocess
import sys

import nbformat
import pytest
from click.testing import CliRunner
from nbgrader.utils import notebook_hash

from coursekit.cli.course import course as command
from coursekit.course.record import record
from coursekit.course.submitted import find_hand_ins

from .conftest import NAME, RIGHT, filled, verdict

NBGRADER_S = 1800


class StudentAccount:
    """A home of one's own with the configuration that `course init` wrote for students."""

    def __init__(self, course, home, name):
        self.home, self.name = home, name
        (home / ".jupyter").mkdir(parents=True)
        text = (course.folder / "student" / "nbgrader_config.py").read_text()
        (home / ".jupyter" / "nbgrader_config.py").write_text(text.replace(*self._moved(text, course)))

    @staticmethod
    def _moved(text, course):
        # The course of these tests is a copy: its exchange lies elsewhere.
        old = next(line for line in text.splitlines() if line.startswith("c.Exchange.root"))
        return old, f"c.Exchange.root = {str(course.folder / 'exchange')!r}"

    def nbgrader(self, *words):
        """Run a command of nbgrader as this student, and return its log."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("JUPYTER")}
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *words],
            cwd=self.home,
            env={**kept, "HOME": str(self.home)},
            capture_output=True,
            text=True,
            timeout=NBGRADER_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stderr


@pytest.fixture
def run(course):
    """Return a function that runs a verb in this course and returns what it printed."""

    def call(*words):
        result = CliRunner().invoke(command, [*words, "--course", str(course.folder)], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    return call


# nbgrader leaves a file open when it releases feedback.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_from_fetch_to_feedback(course, tmp_path, run, hand_in):
    """Students fetch, submit and fetch feedback by nbgrader; each sees their own points and messages only."""
    ada = StudentAccount(course, tmp_path / "ada", "ada")
    ada.nbgrader("fetch_assignment", NAME)
    fetched = ada.home / NAME / f"{NAME}.ipynb"
    assert fetched.read_bytes() == (course.root / "labs" / NAME / f"{NAME}.ipynb").read_bytes()
    fetched.write_text(nbformat.writes(filled(course, NAME, RIGHT)))
    ada.nbgrader("submit", NAME, "--student", "ada")
    hand_in("bob", answers={**RIGHT, "shard": "def shard(x, rank, size):\n    return x[:3]"})

    assert f"{NAME}: 2 hand-ins, 2 new or changed" in run("collect", "01")
    found = {one.student: one for one in find_hand_ins(course, [NAME])}
    assert sorted(found) == ["ada", "bob"]
    assert record(course, verdict("ada"), found["ada"])
    message = "AssertionError: the shards of two ranks must be disjoint"
    assert record(course, verdict("bob", (0, 1), (message, "")), found["bob"])

    assert f"{NAME}: 2/2 bob" in run("feedback", "01")
    ada.nbgrader("fetch_feedback", NAME)
    (page,) = (ada.home / NAME / "feedback").rglob("*.html")
    bobs = notebook_hash(secret="secret of bob", notebook_id=NAME)  # noqa: S106 - of a made hand-in
    pages = {"ada": page.read_text(), "bob": (course.folder / f"exchange/dl/feedback/{bobs}.html").read_text()}
    assert "(Score: 3.0 / 7.0)" in pages["ada"]
    assert "(Score: 1.0 / 7.0)" in pages["bob"]
    assert "the shards of two ranks must be disjoint" in pages["bob"]
    assert "the shards of two ranks must be disjoint" not in pages["ada"]
    assert not any("HIDDEN" in page or "[71, 72, 73]" in page for page in pages.values())
