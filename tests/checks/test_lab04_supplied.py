"""Pieces of the judge's beside an answer: what it finds in their place, and when its own count."""

import ast
from functools import wraps
from types import SimpleNamespace
from typing import Any

import pytest

from coursekit.checks import CheckError
from coursekit.checks.lab04_supplied import FUNCTIONS, or_own
from coursekit.drivers.lab04 import supplied
from coursekit.paths import find_root


def piece(number: int) -> int:
    """Return the number, as the answer's own piece."""
    return number


def answer() -> int:
    """Return what the piece makes of 2."""
    return piece(2)


@wraps(answer)
def decorated() -> int:
    """Return the same."""
    return answer()


@pytest.mark.parametrize("called", [answer, decorated])
def test_an_answer_finds_the_judges_piece_within_the_block_only(called: Any) -> None:
    """Its own is back after it, also where the answer raises, and other pieces stay its own."""
    with supplied(called, {"piece": "def piece(number: Unknown) -> int:\n    return 10 * number\n"}):
        assert called() == 20
    assert called() == 2
    with pytest.raises(ZeroDivisionError), supplied(called, {"piece": "def piece(number):\n    return number / 0\n"}):
        called()
    assert called() == 2
    with supplied(called, {}):
        assert called() == 2


def test_the_judges_pieces_are_called_as_the_labs_are() -> None:
    """Each has name and parameters of the solution's."""
    text = (find_root() / "solutions/04-estimator-cnn/04-estimator-cnn.py").read_text()
    solution = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    for name, source in FUNCTIONS.items():
        [supplied_one] = ast.parse(source).body
        assert isinstance(supplied_one, ast.FunctionDef)
        assert supplied_one.name == name
        of_both = [[one.arg for one in node.args.args] for node in (supplied_one, solution[name])]
        assert of_both[0] == of_both[1]


def trial(name: str, *wrong: str, error: str = "") -> Any:
    """Return a trial in which these properties do not hold."""
    return SimpleNamespace(name=name, wrong=wrong, error=error)


def check_that(asked: str) -> Any:
    """Return a check of this property."""

    def check(one: Any) -> None:
        if one.error or asked in one.wrong:
            raise CheckError(asked)

    return check


@pytest.mark.parametrize(
    ("given", "own", "expected"),
    [
        (trial("judge's"), None, "judge's"),  # which is enough
        (trial("judge's", "first"), trial("own"), "own"),
        (trial("judge's", error="an unexpected argument"), trial("own"), "own"),
        (trial("judge's", error="an unexpected argument"), trial("own", "second"), "own"),
        (trial("judge's", "first"), trial("own", "second"), "judge's"),
        (trial("judge's", "first"), trial("own", error="hangs"), "judge's"),
        (trial("judge's", error="hangs"), trial("own", error="hangs"), "judge's"),
    ],
)
def test_the_own_pieces_count_where_only_they_serve_the_answer(given: Any, own: Any, expected: str) -> None:
    """They are not tried where all holds with the judge's."""
    checks = check_that("first"), check_that("second")
    found = or_own(given, lambda: own or pytest.fail("tried without need"), *checks)
    assert found.name == expected
