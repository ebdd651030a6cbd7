"""Which cells are run for an answer: tests that can see it, and what they need."""

from __future__ import annotations

import pytest
from nbformat import v4

from coursekit.grading.bank.answer_bank import Answer
from coursekit.grading.bank.run_answers import share_runs
from coursekit.labs.concerned import Lab

CELLS = {
    "imports": ("import math\nimport os", ""),
    "warm-up": ("os.environ.setdefault('X', '1')", ""),
    "half": ("def half(x):\n    begin = x\n    return begin / 2", "answer"),
    "half-tests": ("assert half(2) == 1", "tests"),
    "root": ("def root(x):\n    return math.sqrt(x)", "answer"),
    "root-tests": ("assert root(4) == 2", "tests"),
    "both": ("def both(x):\n    return half(x) + later(x)", ""),
    "later": ("def later(x):\n    return root(x)", ""),
    "trial": ("outcome = both(4)\nprint(outcome)", ""),
    "trial-tests": ("assert outcome == 4", "tests"),
    "begin": ("def begin(half_of=3):\n    settings['a'] = half_of", ""),
    "settings": ("settings = {}", ""),
    "settings-tests": ("assert settings == {}", "tests"),
    "magic": ("%%ranks 2\nhalf(2)", ""),
}


@pytest.fixture
def cells():
    """Return the cells of a small lab, with nbgrader's metadata."""
    made = []
    for name, (source, role) in CELLS.items():
        cell = v4.new_code_cell(source, id=name)
        cell.metadata.nbgrader = {"grade_id": name, "grade": role == "tests", "solution": role == "answer", "points": 1}
        made.append(cell)
    return [v4.new_markdown_cell("text"), *made]


ALWAYS = ["warm-up", "magic"]  # cells that bind nothing may have an effect


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({}, list(CELLS)),
        ({"half": "def half(x): return x / 2"}, ["half", "half-tests", "both", "trial", "trial-tests"]),
        ({"half": "def helf(x): return x / 2"}, ["half", "half-tests", "both", "trial", "trial-tests"]),
        ({"root": "def root(x): return x**0.5"}, ["root", "root-tests", "both", "later", "trial", "trial-tests"]),
        (
            {"half": "def half(x):\n    global settings\n    settings = 1"},
            ["half", "half-tests", "both", "trial", "trial-tests", "begin", "settings", "settings-tests"],
        ),
        (
            {"half": "half = lambda x: settings.setdefault(x)\nsettings['b'] = 1"},
            ["half", "half-tests", "both", "trial", "trial-tests", "begin", "settings", "settings-tests"],
        ),
        ({"half": "def half(x: return"}, ["half", "half-tests", "both", "trial", "trial-tests"]),
    ],
    ids=["nothing", "half", "misnamed", "root", "global", "changes an object", "no Python"],
)
def test_tests_that_see_the_answer_run_with_what_they_need(cells, answers, expected):
    """A test is run if it uses a name of the answer, also through functions above and below it and shared objects."""
    got = {cell.id for cell in Lab(cells).cells_to_run(answers)}
    needed = {"imports", "root", "later", "half", "both"}  # by some of them

    assert got - needed == set(expected + ALWAYS) - needed
    assert {"imports"} <= got
    if "trial" in expected:
        assert needed <= got


def test_a_test_that_is_left_out_takes_its_preparations_along(cells):
    """Cells that only serve it are not run."""
    got = [cell.id for cell in Lab(cells).cells_to_run({"root": "def root(x): return 1"}, left_out=["trial-tests"])]

    assert got == ["imports", "warm-up", "root", "root-tests", "magic"]


def test_cells_keep_their_order(cells):
    """What runs, runs in the order of the notebook."""
    order = [cell.id for cell in Lab(cells).cells_to_run({"root": "def root(x): return x**0.5"})]

    assert order == [name for name in CELLS if name in order]
    assert "settings-tests" not in order


def test_answers_share_a_run_if_they_leave_alone_what_others_fail(cells):
    """Two wrong pieces with one consequence share a run, and two right ones that must pass it; not one of each."""
    trial = frozenset({"trial-tests"})
    answers = [
        Answer("half-wrong", "", {"half-tests": ("",)}, {"half": "def half(x): return 1"}, trial),
        Answer("root-wrong", "", {"root-tests": ("",)}, {"root": "def root(x): return 1"}, trial),
        Answer("half-also-wrong", "", {"half-tests": ("",)}, {"half": "def half(x): return 2"}, trial),
        Answer("root-right", "", {}, {"root": "def root(x): return x**0.5"}),
        Answer("half-right", "", {}, {"half": "def half(x): return 0.5 * x"}),
        Answer("solution", "", {}, {}),
    ]
    groups = share_runs(answers, Lab(cells))

    assert [[answer.name for answer in group] for group in groups] == [
        ["half-wrong", "root-wrong"],
        ["half-also-wrong"],
        ["root-right", "half-right"],
        ["solution"],
    ]
