"""What a command does with a lab that needs what is not installed."""

from dataclasses import replace
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError, codes_in
from coursekit.labs import needs
from coursekit.labs.lab import find_labs

ROOT = Path(__file__).parents[2]


@pytest.fixture
def labs(monkeypatch):
    """Two labs: one that can run, and one whose framework nobody has."""
    monkeypatch.setitem(needs.OTHERS, "coursekit_nothing", ("Nothing", "do this"))
    usual, *_ = find_labs(ROOT)
    return usual, replace(usual, name="99-later", framework="coursekit_nothing")


def test_without_names_the_others_run_and_a_sentence_says_why(labs):
    """`coursekit run` runs what can run."""
    messages = []

    assert needs.runnable(labs, (), messages.append) == labs[:1]
    assert list(map(codes_in, messages)) == [["framework.missing"]]


def test_a_lab_asked_for_by_name_is_refused(labs):
    """`coursekit run 99` must not end well with nothing done."""
    with pytest.raises(CourseKitError, match=r"^99-later .*\[framework\.missing\]$"):
        needs.runnable(labs, ("99",), print)
