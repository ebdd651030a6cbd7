"""A job is submitted only with answers in its notebook."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from coursekit.slurm.jobs.missing_answers import check_answers

ROOT = Path(__file__).parents[3]


@pytest.fixture
def course(tmp_path):
    """Return a checkout with the released notebooks."""
    for lab in select_labs(ROOT, ["01", "03"]):
        folder = tmp_path / "labs" / lab.name
        folder.mkdir(parents=True)
        (folder / f"{lab.name}.ipynb").write_bytes((ROOT / "labs" / lab.name / f"{lab.name}.ipynb").read_bytes())
        for name in ("lab.toml", f"{lab.name}.py"):
            target = tmp_path / "solutions" / lab.name / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((lab.folder / name).read_bytes())
    return tmp_path


def answers(lab):
    """Return the names of the answer cells in a lab's source, read from its text."""
    lines = (ROOT / "solutions" / lab / f"{lab}.py").read_text().splitlines()
    cells = [line for line in lines if line.startswith("# %%") and 'role="answer"' in line and "[markdown]" not in line]
    return [(line.partition('id="')[2].partition('"')[0], '"script"' in line) for line in cells]


def test_missing_answers_are_named(course):
    """The released notebook is refused with the name of every answer; a script minds only those it is made of."""
    everything = ", ".join(name for name, _ in answers("03-keras-cnn"))
    script = ", ".join(name for name, is_script in answers("03-keras-cnn") if is_script)
    assert script != everything
    for only_script, names in ((False, everything), (True, script)):
        with pytest.raises(CourseKitError) as refused:
            check_answers(course, "03-keras-cnn", only_script=only_script)
        assert str(refused.value) == (
            f"labs/03-keras-cnn/03-keras-cnn.ipynb has no answer yet in {names}: write them first, then submit."
        )


def test_an_answered_notebook_is_returned(course):
    """The solution passes; a lab without a script has no training to submit."""
    built = build_sources(course, select_labs(course, ["01"]))["01-sgd"]
    path = course / "labs" / "01-sgd" / "01-sgd.ipynb"
    path.write_bytes(built.read_bytes())

    assert check_answers(course, "01-sgd") == path
    with pytest.raises(CourseKitError, match=r"^the lab 01-sgd has no script: submit it without --train\.$"):
        check_answers(course, "01-sgd", only_script=True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read (No such file or directory): jobs run the notebook of that name."),
        ("{", "is not a notebook: get it back from the course and write your answers."),
        ("[]", "is not a notebook: get it back from the course and write your answers."),
        (
            json.dumps({"cells": [], "metadata": {"coursekit": {"generated_from": "solutions/03-keras-cnn/x.py"}}}),
            "is the notebook of another lab (solutions/03-keras-cnn/x.py): put the right one there.",
        ),
    ],
)
def test_what_is_no_notebook_of_the_lab(course, content, message):
    """A missing, damaged or exchanged notebook gets one sentence."""
    path = course / "labs" / "01-sgd" / "01-sgd.ipynb"
    path.unlink()
    if content is not None:
        path.write_text(content)
    with pytest.raises(CourseKitError) as refused:
        check_answers(course, "01-sgd")
    assert str(refused.value) == f"labs/01-sgd/01-sgd.ipynb {message}"
