"""What a run shows of an attempt: odd ends of processes and cells are flagged, an honest mistake is not."""

from __future__ import annotations

import pytest

from coursekit.grading.inside import wire
from coursekit.grading.judge.conversation import Exchange
from coursekit.grading.judge.flags import flags_of_run


def kinds(reply):
    """Return the kinds of flags that a reply of the launcher's raises."""
    return [flag.kind for flag in flags_of_run([Exchange("", wire.dumps(reply))])]


@pytest.mark.parametrize(
    ("error", "flags"),
    [
        ("ProcessEnded", ["ProcessEnded"]),
        ("TimeoutError", ["TimeoutError"]),
        ("MemoryError", ["memory"]),
        ("SystemError", ["broken interpreter"]),
        ("ValueError", []),
        ("RecursionError", []),
    ],
)
def test_odd_ends_of_an_answer_are_flagged(error, flags):
    """A process that ended, took too long or too much, or broke its interpreter is seen; plain mistakes are not."""
    assert kinds({"error": [error, "as it was told"]}) == flags


@pytest.mark.parametrize(("error", "flags"), [("SystemError", ["broken interpreter"]), ("NameError", [])])
def test_odd_ends_of_a_cell_are_flagged(error, flags):
    """The same of what a cell does when it is run."""
    assert kinds({"cells": [{"name": "answer", "error": [error, "as it was told"]}]}) == flags
