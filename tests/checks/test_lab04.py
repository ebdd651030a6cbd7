"""Lab 04's splits, TF_CONFIG, and pieces of the judge's beside an answer; its bank holds the rest (tests/answers)."""

import ast
import json
from functools import wraps
from types import SimpleNamespace
from typing import Any

import pytest

from coursekit.checks import CheckError, lab04_data, lab04_pieces
from coursekit.checks.check import require
from coursekit.checks.lab04_pieces import FUNCTIONS, OWN, or_own
from coursekit.drivers.lab04_training import supplied
from coursekit.paths import find_root


@pytest.mark.parametrize("num_held_out", [0, 1, 3, 7])
def test_a_split_without_gap_and_overlap_passes(num_held_out):
    """Front and back of the list are right, each in any order."""
    lab04_data.check_split_files(lambda files, num: (files[: 7 - num], files[7 - num :]), [(7, num_held_out)])
    lab04_data.check_split_files(lambda files, num: [files[: 7 - num], files[::-1][:num]], [(7, num_held_out)])


def test_tf_config():
    """The right text passes; another type, a part that is missing, and what is no JSON are named."""

    def text(hosts, index):
        return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})

    lab04_pieces.check_tf_config(text, 3)
    wrong = {
        "tf-config.wrong-type": lambda *known: text(*known).replace('"type": "worker"', '"type": "chief"'),
        "answer.wrong-type": lambda *known: json.loads(text(*known)),
        "tf-config.no-json": lambda *known: repr(json.loads(text(*known))),
    }
    for code, tf_config in wrong.items():
        with pytest.raises(CheckError) as caught:
            lab04_pieces.check_tf_config(tf_config, 3)
        assert caught.value.code == code


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
    """Its own is back after it, also where the answer raises, and without a source it stays."""
    with supplied(called, "def piece(number):\n    return 10 * number\n"):
        assert called() == 20
    assert called() == 2
    with pytest.raises(ZeroDivisionError), supplied(called, "def piece(number):\n    return number / 0\n"):
        called()
    assert called() == 2
    with supplied(called, OWN):
        assert called() == 2


def arguments(text: str) -> dict[str, list[str]]:
    """Return by name the parameters of the functions in a source."""
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return {function.name: [one.arg for one in function.args.args] for function in functions}


def test_the_judges_pieces_are_called_as_the_labs_are() -> None:
    """Each has name and parameters of the solution's."""
    pieces = arguments(FUNCTIONS)
    solution = arguments((find_root() / "solutions/04-estimator-cnn/04-estimator-cnn.py").read_text())

    assert pieces.keys() == {"input_fn", "model_fn", "make_run_config"}
    assert pieces.items() <= solution.items()


@pytest.mark.parametrize(
    ("given", "own", "expected"),
    [
        (("", ""), None, "judge's"),  # which is enough
        (("", "first"), ("", ""), OWN),
        (("an unexpected argument", ""), ("", ""), OWN),
        (("an unexpected argument", ""), ("", "second"), OWN),
        (("", "first"), ("", "second"), "judge's"),
        (("", "first"), ("hangs", ""), "judge's"),
        (("hangs", ""), ("hangs", ""), "judge's"),
    ],
)
def test_the_own_pieces_count_where_only_they_serve_the_answer(given: Any, own: Any, expected: str) -> None:
    """They are not tried where all holds with the judge's; a trial has an error, or a property that does not hold."""

    def try_with(pieces: str) -> Any:
        error, wrong = (own if pieces == OWN else given) or pytest.fail("tried without need")
        return SimpleNamespace(pieces=pieces, error=error, wrong=wrong)

    def check_that(asked: str) -> Any:
        return lambda trial: require(not trial.error and trial.wrong != asked, asked)

    assert or_own(try_with, "judge's", check_that("first"), check_that("second")).pieces == expected
