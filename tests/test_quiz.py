"""A choice is told whether it is right, and why; whatever else stands there gets one sentence and no error."""

import re

import pytest

from coursekit.errors import codes_in
from coursekit.quiz import explain, fold

FOLDED = fold("B", ["One is odd.", "Half of two is one, a “whole” number.", "Three is odd."])


@pytest.fixture
def message(capsys):
    """Return a function that says what is said of a choice."""

    def tell(choice, folded=FOLDED):
        explain(choice, folded)
        return capsys.readouterr().out.replace("\n", " ").strip()

    return tell


def test_every_choice_is_explained(message):
    """The right one as well as the wrong ones."""
    assert re.fullmatch("✗ A .*One is odd.", message("A"))
    assert re.fullmatch("✓ B .*Half of two is one, a “whole” number.", message("B"))
    assert re.fullmatch("✗ C .*Three is odd.", message(" c\n"))


@pytest.mark.parametrize("choice", ["", " ", None])
def test_no_choice_yet_is_no_error(message, choice):
    """So Run All goes on."""
    assert codes_in(message(choice)) == ["quiz.no-choice"]


@pytest.mark.parametrize("choice", ["D", "AB", "the first", 2, ["A"], "ß"])
def test_what_is_no_choice_is_named(message, choice):
    """The message quotes it."""
    assert repr(choice) in message(choice)
    assert codes_in(message(choice)) == ["quiz.no-such-choice"]


@pytest.mark.parametrize("folded", ["", "Qg==", FOLDED[:-3], "ä", "*" * 8])
def test_a_damaged_quiz_is_message(message, folded):
    """A student may have changed more than the letter."""
    assert codes_in(message("A", folded)) == ["quiz.damaged"]


def test_nobody_reads_the_right_choice_by_accident():
    """Neither a letter nor a word of an explanation can be read in what stands in the notebook."""
    assert not any(word in FOLDED for word in ("odd", "whole", "One"))


def test_lines_are_short(capsys):
    """JupyterLab would break longer ones inside words."""
    explain("A", fold("A", ["Nine words that are as long as they should " * 9, "no"]))
    lines = capsys.readouterr().out.splitlines()

    assert len(lines) > 1
    assert max(map(len, lines)) < 100
