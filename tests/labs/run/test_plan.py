"""What is refused before anything starts, and how parameters meet."""

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
    ("words", "code"),
    [
        (["04-none"], "lab.unknown"),
        (["--ranks", "0"], "ranks.out-of-range"),
        (["-p", "num_ranks", "-2"], "ranks.out-of-range"),
        (["-p", "num_rank", "4"], "parameter.unknown"),
        (["-p", "steps", "1.5"], "parameter.type"),
        (["-p", "rate", "nan"], "parameter.type"),
        (["-p", "verbose", "maybe"], "parameter.type"),
    ],
    ids=lambda value: "_".join(value) if isinstance(value, list) else "",
)
def test_mistakes_are_refused_before_anything_starts(course, monkeypatch, words, code):
    """The message says what was wrong; no run is begun."""
    monkeypatch.setenv("COURSEKIT_ROOT", str(course.root))
    result = CliRunner().invoke(run, words)
    assert isinstance(result.exception, CourseKitError)
    assert result.exception.code == code
    assert not course.runs.exists()


@pytest.mark.parametrize(
    ("source", "small_run", "code"),
    [
        (RANKS, "speed = 1", "parameter.unknown"),
        (RANKS, 'rate = "1"', "parameter.type"),
        ('# %% tags=["parameters"]\nwidth = 2 * 3\n', "", "parameter.default"),
    ],
    ids=["unknown name", "text for a number", "default that is computed"],
)
def test_a_labs_own_mistakes_are_refused(course, source, small_run, code):
    """The author of a lab is told the file and the name."""
    course.add("03-bare", source, small_run)
    try:
        with pytest.raises(CourseKitError, match=r"^(solutions/)?03-bare") as caught:
            plan(course)
        assert caught.value.code == code
    finally:
        course.add("03-bare", BARE)
