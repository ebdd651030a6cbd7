"""`coursekit build` says what it did to which file."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from coursekit.cli import cli


@pytest.fixture
def build(course, monkeypatch):
    """Return a function that runs the command in a checkout with two labs and returns what it prints."""
    monkeypatch.setenv("COURSEKIT_ROOT", str(course.root))
    course.add_lab("01-a")
    course.add_lab("02-b")

    def run(*words: str) -> str:
        return CliRunner().invoke(cli, ["build", *words], catch_exceptions=False).output

    return run


def test_all_labs_are_built_and_reported(build, course):
    """The first build writes everything, the second nothing."""
    names = [
        "build/source/01-a/01-a.ipynb",
        "build/source/02-b/02-b.ipynb",
        "labs/01-a/01-a.ipynb",
        "labs/02-b/02-b.ipynb",
        "labs/README.md",
    ]

    assert build().splitlines() == [*(f"written   {name}" for name in names), "2 labs: 5 written"]
    times = {path: path.stat().st_mtime_ns for path in course.root.rglob("*")}
    assert build().splitlines() == [*(f"unchanged {name}" for name in names), "2 labs: 5 unchanged"]
    assert {path: path.stat().st_mtime_ns for path in course.root.rglob("*")} == times
    assert sorted(course.files("labs")) == ["01-a/01-a.ipynb", "02-b/02-b.ipynb", "README.md"]


def test_one_lab_is_built_by_its_number(build, course):
    """The table still shows all labs."""
    assert build("02").splitlines()[-1] == "1 lab: 3 written"
    assert sorted(course.files("labs")) == ["02-b/02-b.ipynb", "README.md"]
    assert b"01-a/01-a.ipynb" in course.files("labs")["README.md"]
