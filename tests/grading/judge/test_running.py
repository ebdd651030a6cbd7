"""Submissions follow one another in a slot, and none hears what was meant for the one before."""

import os
from types import SimpleNamespace

import pytest

from coursekit import processes
from coursekit.grading.judge.pool_worker import grade
from coursekit.grading.judge.running import Running, find_zygote, odd_signs


def test_a_request_that_comes_too_late_costs_the_next_submission_nothing(program, work, slot):
    """A launcher that is killed between two requests leaves the second one unread in the channel."""
    with slot.submission() as running:
        assert running.ask({"op": "cells", "cells": []}, 5) == {"cells": []}
        running.kill_reason = "so"
        processes.kill_below(find_zygote(os.getpid()))
        assert running.ask({"op": "cells", "cells": []}, 5)["error"][0] == "ProcessEnded"
    verdict = grade(program, work(), slot, left_out=("facts-tests",))

    assert (verdict.fault, verdict.points) == ("", 2)


def test_when_the_time_is_up_nothing_is_asked():
    """A submission that has used its time is not run on; every further question says so, and it is flagged."""
    running = Running(None, 0, SimpleNamespace(own_s=5.0, excess=""), limit_s=5)  # no channel: nothing is sent

    assert "whole notebook has used up its 5 s" in running.ask({"op": "call"}, 1)["error"][1]
    assert [flag.kind for flag in running.flags()] == ["TimeoutError"]


@pytest.mark.parametrize(
    ("reply", "flags"),
    [
        ({"error": ["ProcessEnded", "so"]}, ["ProcessEnded"]),
        ({"error": ["TimeoutError", "so"]}, ["TimeoutError"]),
        ({"error": ["MemoryError", "so"]}, ["memory"]),
        ({"error": ["SystemError", "so"]}, ["broken interpreter"]),
        ({"error": ["ValueError", "so"]}, []),
        ({"error": ["RecursionError", "so"]}, []),
        ({"cells": [{"name": "answer", "error": ["SystemError", "so"]}]}, ["broken interpreter"]),
        ({"cells": [{"name": "answer", "error": ["NameError", "so"]}]}, []),
        ({"cells": [{"name": "answer", "error": ["OSError", "[Errno 24] Too many open files"]}]}, ["shortage"]),
        ({"error": ["BlockingIOError", "[Errno 11] Resource temporarily unavailable"]}, ["shortage"]),
        ({"error": ["ResourceExhaustedError", "so"]}, ["memory"]),
        ({"reports": [[1, None, "RuntimeError", "can't start new thread", ""]]}, ["shortage"]),
        ({"exit_codes": {2: -9}}, ["ProcessEnded"]),
    ],
)
def test_odd_ends_are_flagged(reply, flags):
    """Of answer or cell: a process that ended, took too much, or broke its interpreter is seen, plain mistakes not."""
    assert [kind for kind, _ in odd_signs(reply)] == flags
