"""Submissions follow one another in a slot, and none hears what was meant for the one before."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from coursekit import processes
from coursekit.grading.judge.grade_one import grade
from coursekit.grading.judge.running import Fault, Running, find_zygote, odd_signs
from coursekit.grading.judge.slot import Slot, SubmissionLimits

from ..conftest import IMPORTS


def test_a_request_that_comes_too_late_costs_the_next_submission_nothing(program, work, slot):
    """A launcher that is killed between two requests leaves the second one unread in the channel."""
    with slot.submission() as running:
        assert running.ask({"op": "cells", "cells": []}, 5) == {"cells": []}
        processes.kill_below(find_zygote(os.getpid()))
        assert running.ask({"op": "cells", "cells": []}, 5)["error"][0] == "ProcessEnded"
    verdict = grade(program, work(), slot, left_out=("facts-tests",))

    assert (verdict.fault, verdict.points) == ("", 2)


def has_tensorflow():
    """Whether the zygote of the only slot here has TensorFlow in its memory."""
    return "libtensorflow" in Path(f"/proc/{find_zygote(os.getpid())}/maps").read_text()


@pytest.mark.needs("bwrap")
def test_tensorflow_is_imported_for_labs_that_name_it(program, work):
    """A lab that does not is judged without, also on ranks; the slot has it when another lab comes, and keeps it."""
    nameless = replace(program, run=tuple(replace(part, source="") for part in program.run))
    assert (program.needs_tensorflow, nameless.needs_tensorflow) == (True, False)
    seen = []
    with Slot(limits=SubmissionLimits(notebook_s=60, cell_s=5, memory_gb=2)) as slot:
        for lab in (nameless, program, nameless):
            verdict = grade(lab, work(("imports", IMPORTS.splitlines()[0])), slot)
            seen.append((verdict.fault, verdict.points, has_tensorflow()))
    assert seen == [("", 3, False), ("", 3, True), ("", 3, True)]


@pytest.mark.needs("bwrap")
def test_a_zygote_that_the_kernel_ends_for_memory_is_the_submissions_loss(program, work, monkeypatch):
    """It counts as a process that ended, and is flagged: another run would end the same. Without such a kill, a fault.

    The kernel's count is made up: which processes it takes cannot be chosen.
    """
    errors = []
    with Slot(limits=SubmissionLimits(notebook_s=60, cell_s=5, memory_gb=2)) as slot:
        for num_killed in (1, 0):
            with slot.submission() as running:
                monkeypatch.setattr(running, "_group", SimpleNamespace(num_killed_for_memory=num_killed))
                monkeypatch.setattr(running, "_num_killed_before", 0)
                assert running.ask({"op": "cells", "cells": []}, 5) == {"cells": []}  # the launcher is there
                for process in processes.below(os.getpid()):
                    with suppress(psutil.NoSuchProcess):  # a sandbox ends with its first process
                        process.kill()
                try:
                    errors.append(running.ask({"op": "cells", "cells": []}, 5)["error"][0])
                except Fault:
                    errors.append("fault")
            errors.append([flag.kind for flag in running.flags()])
        points = grade(program, work(), slot).points
    assert (errors, points) == (["ProcessEnded", ["ProcessEnded", "memory"], "fault", []], 3)


def test_when_the_time_is_up_nothing_is_asked():
    """A submission that has used its time is not run on; every further question says so, and it is flagged."""
    running = Running(None, 0, SimpleNamespace(own_s=5.0, excess=""), None, limit_s=5)  # no channel: nothing is sent

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
    ],
)
def test_odd_ends_are_flagged(reply, flags):
    """Of answer or cell: a process that ended, took too much, or broke its interpreter is seen, plain mistakes not."""
    assert [kind for kind, _ in odd_signs(reply)] == flags
