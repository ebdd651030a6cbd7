"""What is refused before anything starts, and how parameters meet."""

import re

import pytest
from click.testing import CliRunner

from coursekit.cli.run import run
from coursekit.errors import CourseKitError
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import find_labs
from coursekit.labs.run.plan import plan_runs

SERIAL = """\
# %% tags=["parameters"]
# What the lab trains with.
rate: float = 0.5  # learning rate
name = "sgd"
verbose = False
steps = (
    10
)
"""
RANKS = """\
# %% tags=["parameters"]
num_ranks = 2
rate = 0.1
"""
BARE = """\
# %% role="readonly" id="hello"
print("hello")
"""


@pytest.fixture(scope="module")
def course(course):
    """Three labs: without ranks, with ranks, without parameters."""
    course.add("01-serial", SERIAL, "steps = 3\nrate = 1")
    course.add("02-ranks", RANKS)
    course.add("03-bare", BARE)
    return course


def plan(course, num_ranks=None, **given):
    """Plan all labs."""
    labs = find_labs(course.root)
    return plan_runs(labs, build_sources(course.root, labs), num_ranks, given)


def test_values_come_from_small_run_then_ranks_then_p(course):
    """Each later source overrides; a lab gets only the parameters it has, each with the type of its default."""
    runs = plan(course, num_ranks=4, rate="2", verbose="yes", name="adam")
    assert [dict(run.parameters) for run in runs] == [
        {"name": "adam", "rate": 2.0, "steps": 3, "verbose": True},
        {"num_ranks": 4, "rate": 2.0},
        {},
    ]
    assert [type(run.parameters["rate"]) for run in runs[:2]] == [float, float]
    assert [run.num_ranks for run in runs] == [1, 4, 1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["04-none"], "there is no lab '04-none'; the labs are 01-serial, 02-ranks, 03-bare."),
        (["--ranks", "0"], "--ranks: num_ranks is 0, but must be from 1 to 64."),
        (["-p", "num_ranks", "-2"], "-p: num_ranks is -2, but must be from 1 to 64."),
        (
            ["-p", "num_rank", "4"],
            "-p: no chosen lab has a parameter num_rank; known are name, num_ranks, rate, steps, verbose.",
        ),
        (["-p", "steps", "1.5"], "-p: steps must be a whole number as its default 10 is, not '1.5'."),
        (["-p", "rate", "nan"], "-p: rate must be a number as its default 0.5 is, not nan."),
        (["-p", "verbose", "maybe"], "-p: verbose must be true or false as its default False is, not 'maybe'."),
    ],
    ids=lambda value: "_".join(value) if isinstance(value, list) else "",
)
def test_mistakes_are_refused_before_anything_starts(course, monkeypatch, words, message):
    """One sentence says what was wrong and what is known; no run is begun."""
    monkeypatch.setenv("COURSEKIT_ROOT", str(course.root))
    result = CliRunner().invoke(run, words)
    assert isinstance(result.exception, CourseKitError)
    assert str(result.exception) == message
    assert not course.runs.exists()


@pytest.mark.parametrize(
    ("source", "small_run", "message"),
    [
        (RANKS, "speed = 1", "[small_run]: the notebook has no parameter speed; it has num_ranks, rate."),
        (RANKS, 'rate = "1"', "[small_run]: rate must be a number as its default 0.1 is, not '1'."),
        ('# %% tags=["parameters"]\nwidth = 2 * 3\n', "", "03-bare.ipynb: the default of parameter 'width' is '2 * 3'"),
    ],
    ids=["unknown name", "text for a number", "default that is computed"],
)
def test_a_labs_own_mistakes_are_refused(course, source, small_run, message):
    """The author of a lab is told the file and the name."""
    course.add("03-bare", source, small_run)
    try:
        with pytest.raises(CourseKitError, match="03-bare.*" + re.escape(message.replace("03-bare", ""))):
            plan(course)
    finally:
        course.add("03-bare", BARE)
