"""Which cells are run for an answer: tests that can see it, and what they need."""

import pytest
from nbformat import v4

from workshop.affected_tests import LabCells
from workshop.answers.answer_bank import BankAnswer
from workshop.answers.run_answers import asked_tests, share_runs

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


# Cells that bind nothing always run, since they may have an effect: warm-up and magic.
OF_HALF = ["imports", "warm-up", "half", "half-tests", "root", "both", "later", "trial", "trial-tests", "magic"]
OF_SETTINGS = [*OF_HALF[:-1], "begin", "settings", "settings-tests", "magic"]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({}, list(CELLS)),
        ({"half": "def half(x): return x / 2"}, OF_HALF),
        ({"half": "def helf(x): return x / 2"}, OF_HALF),
        (
            {"root": "def root(x): return x**0.5"},
            ["imports", "warm-up", "half", "root", "root-tests", "both", "later", "trial", "trial-tests", "magic"],
        ),
        ({"half": "def half(x):\n    global settings\n    settings = 1"}, OF_SETTINGS),
        ({"half": "half = lambda x: settings.setdefault(x)\nsettings['b'] = 1"}, OF_SETTINGS),
        ({"half": "def half(x: return"}, OF_HALF),
    ],
    ids=["nothing", "half", "misnamed", "root", "global", "changes an object", "no Python"],
)
def test_tests_that_see_the_answer_run_with_what_they_need(cells, answers, expected):
    """A test runs if it uses a name of the answer, also through functions and shared objects; in the lab's order."""
    assert [cell.id for cell in LabCells(cells).cells_to_run(answers)] == expected


def test_a_test_that_is_left_out_takes_its_preparations_along(cells):
    """Cells that only serve it are not run."""
    got = [
        cell.id for cell in LabCells(cells).cells_to_run({"root": "def root(x): return 1"}, left_out=["trial-tests"])
    ]

    assert got == ["imports", "warm-up", "root", "root-tests", "magic"]


def test_answers_share_a_run_if_they_leave_alone_what_others_fail(cells):
    """Two wrong pieces with one consequence share a run, and two right ones that must pass it; not one of each."""
    trial = frozenset({"trial-tests"})
    answers = [
        BankAnswer("half-wrong", "", {"half-tests": ("",)}, {"half": "def half(x): return 1"}, trial),
        BankAnswer("root-wrong", "", {"root-tests": ("",)}, {"root": "def root(x): return 1"}, trial),
        BankAnswer("half-also-wrong", "", {"half-tests": ("",)}, {"half": "def half(x): return 2"}, trial),
        BankAnswer("root-right", "", {}, {"root": "def root(x): return x**0.5"}),
        BankAnswer("half-right", "", {}, {"half": "def half(x): return 0.5 * x"}),
        BankAnswer("solution", "", {}, {}),
    ]
    lab = LabCells(cells)
    groups = share_runs(answers, lab, asked_tests(answers, lab))

    assert [[answer.name for answer in group] for group in groups] == [
        ["half-wrong", "root-wrong"],
        ["half-also-wrong"],
        ["root-right", "half-right"],
        ["solution"],
    ]


def test_of_many_mistakes_in_a_cell_two_are_held_against_tests_of_other_answers(cells):
    """Then a third one shares a run with a mistake in the other answer; a right one is held against all it reaches."""
    both = next(cell for cell in cells if cell.id == "both")
    both.metadata.nbgrader.solution = True
    lab = LabCells(cells)
    answers = [
        *(
            BankAnswer(f"half-{number}", "", {"half-tests": ("",)}, {"half": f"def half(x): return {number}"})
            for number in range(3)
        ),
        BankAnswer("half-right", "", {}, {"half": "def half(x): return 0.5 * x"}),
        BankAnswer("both-wrong", "", {"trial-tests": ("",)}, {"both": "def both(x): return half(x)"}),
    ]
    asked = asked_tests(answers, lab)

    assert lab.tests_in_direct_reach({"half": "def half(x): return 2"}) == {"half-tests"}
    assert asked == {
        "half-0": {"half-tests", "trial-tests"},
        "half-1": {"half-tests", "trial-tests"},
        "half-2": {"half-tests"},
        "half-right": {"half-tests", "trial-tests"},
        "both-wrong": {"trial-tests"},
    }
    assert [[answer.name for answer in group] for group in share_runs(answers, lab, asked)] == [
        ["half-0"],
        ["half-1"],
        ["half-2", "both-wrong"],
        ["half-right"],
    ]
