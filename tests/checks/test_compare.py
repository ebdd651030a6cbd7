"""What answers return becomes plain numbers, or one sentence."""

import numpy as np
import pytest

from coursekit.checks import CheckError
from coursekit.checks.compare import (
    OF_SHARES,
    as_dict,
    as_list,
    as_number,
    brief,
    expected_and_got,
    require_close,
    require_equal,
)
from coursekit.errors import Cause


class NoText:
    """An object that cannot be shown."""

    def __repr__(self):
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("value", "expected"), [(3, 3.0), (np.float32(0.5), 0.5), (np.array([[2.0]]), 2.0), ([7], 7.0), (True, 1.0)]
)
def test_numbers_in_any_form_are_numbers(value, expected):
    """Numbers, arrays and sequences that hold one number are that number, as a float of Python's own."""
    found = as_number(value, "it")

    assert (found, type(found)) == (expected, float)


@pytest.mark.parametrize("value", [None, "3", b"3", [1, 2], [[1], [2, 3]], NoText(), lambda: 3, {"a": 1}, []])
def test_what_is_no_number_is_told_in_one_sentence(value):
    """Anything else is refused by a sentence that names it and shows it shortly."""
    with pytest.raises(CheckError, match=r"^the loss: .*\[answer.wrong-type\]$") as caught:
        as_number(value, "the loss")

    assert len(str(caught.value)) < 150


def test_sequences_and_dictionaries_are_copied_into_plain_ones():
    """Lists, tuples and arrays become lists; text, numbers and generators do not, nor does a list a dictionary."""
    assert as_list((1, 2), "it") == as_list(np.array([1, 2]), "it") == [1, 2]
    assert as_dict({"a": 1}, "it") == {"a": 1}
    for value in ("ab", 3, None, (n for n in range(3)), np.array(3)):
        with pytest.raises(CheckError, match=r"\[answer.wrong-type\]"):
            as_list(value, "it")
    with pytest.raises(CheckError, match=r"\[answer.wrong-type\]"):
        as_dict([1], "it")


def test_long_values_are_told_shortly():
    """A message does not grow with what an answer returns."""
    assert brief(None) == "None"
    assert len(brief(list(range(10**5)))) < 100
    assert "NoText" in brief(NoText())


def test_numbers_are_told_rounded():
    """Nobody compares sixteen digits, in whatever holds them."""
    third = 1 / 3

    assert brief(third) == brief(np.float32(third)) == "0.333333"
    assert brief([third, (2, third)]) == "[0.333333, (2, 0.333333)]"
    assert brief(np.array([[third, 1.0]])) == "array([[0.333333, 1]])"
    with pytest.raises(CheckError, match=r"^the rate: .* 0\.5, .* 0\.333333, which is wrong \[rate.wrong\]$"):
        require_equal(third, 0.5, "the rate", "rate.wrong", ", which is wrong")


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (400500.4, 400500.1),
        (400500.1, 400500),
        (np.float32(1 / 3), np.float64(1 / 3)),
        ([1.0, 2.00000001], [1.0, 2.0]),
        ([*range(9), 8], list(range(10))),
    ],
)
def test_what_differs_is_never_told_alike(got, expected):
    """However late two values differ, a message does not show the same text for both."""
    one, other = expected_and_got(got, expected, brief).removeprefix("expected ").split(", got ")
    assert one != other


def test_of_many_numbers_the_worst_is_shown():
    """Nobody reads sixty pairs of numbers; a mistake is looked for in all of them."""
    right = np.arange(60.0).reshape(20, 3)
    wrong = right.copy()
    wrong[4, 1], wrong[5, 2] = 14, 0
    with pytest.raises(CheckError, match=r"^the rows, .* 60 .* 17, .* 0 \[rows.wrong\]$"):
        require_close(wrong, right, "the rows", "rows.wrong")
    with pytest.raises(CheckError, match=r"^the rows, .* 60 .* 59, .* 118: twice \[rows.twice\]$"):
        require_close(2 * right, right, "the rows", "rows.wrong", {Cause("twice", "rows.twice"): 2 * right})


HALF, TWICE, ROOT = (Cause(words, f"it.{words}") for words in ("half", "twice", "root"))


@pytest.mark.parametrize(
    ("got", "expected", "how", "code"),
    [
        (2 / 3, 1 / 3, {"mistakes": {HALF: 1 / 6, TWICE: 2 / 3}}, "it.twice"),
        ((1, 2.00001), (1, 2), {}, "it.wrong"),
        (2.0, 4.0, {"mistakes": {HALF: 2.0, ROOT: 4**0.5}, "otherwise": TWICE}, "it.wrong"),
        (2.0, 4.0, {"mistakes": {HALF: 4 / 3}, "otherwise": ROOT}, "it.root"),
        (2.0, 4.0, {"mistakes": {HALF: 4 / 3}, "otherwise": "unknown"}, "it.wrong"),
        (120.0, 2.0, {}, "units.sixty"),
        (1 / 13, 8 / 13, {"units": OF_SHARES}, "it.wrong"),
        (50.0, 0.5, {"units": OF_SHARES}, "units.per-cent"),
        (0.002, 2.0, {"mistakes": {ROOT: 0.002}}, "it.wrong"),
    ],
)
def test_a_mistake_is_named_where_it_alone_leads_to_the_number(got, expected, how, code):
    """As in the example of the module; where two mistakes, or one and a wrong unit, give the same number, none is."""
    with pytest.raises(CheckError) as caught:
        require_close(got, expected, "it", "it.wrong", **how)
    assert caught.value.code == code


def test_a_mistake_is_named_where_it_leads_to_another_value():
    """And what is advised otherwise is not said then."""
    with pytest.raises(CheckError, match=r"^it: .* 4, .* 2: half \[it.half\]$"):
        require_equal(2, 4, "it", "it.wrong", ": advice", mistakes={HALF: 2, TWICE: 8})
