"""The callers of the launch benchmark: every way really runs, and a failing one is said."""

from __future__ import annotations

import os
from contextlib import ExitStack

import psutil
import pytest

from coursekit.errors import CourseKitError
from coursekit.lecture.bench.caller import WAYS
from coursekit.lecture.bench.launch import ask, caller_of


@pytest.mark.parametrize("way", sorted(WAYS))
def test_every_way_gives_the_right_sum_in_some_seconds(way, monkeypatch):
    """Callers check the result of each call, and a surrounding launcher's variables do not reach them."""
    monkeypatch.setenv("HOROVOD_RANK", "5")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "9")
    with caller_of(way) as caller:
        assert 0.01 < ask(way, caller) < 120


def test_a_caller_that_dies_is_said():
    """The message names the way and what to do."""
    with ExitStack() as stack:
        before = set(psutil.Process(os.getpid()).children())
        caller = stack.enter_context(caller_of("horovodrun"))
        (process,) = set(psutil.Process(os.getpid()).children()) - before
        process.kill()
        stack.enter_context(
            pytest.raises(CourseKitError, match=r"calls horovodrun ended without a word: run `coursekit")
        )
        ask("horovodrun", caller)
