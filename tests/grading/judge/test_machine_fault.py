"""Points that the machine may have cost are no student's loss, and what a student's process does to itself is none."""

from types import SimpleNamespace

import pytest

from coursekit.grading.judge.machine_fault import machines_fault
from coursekit.grading.judge.pool_worker import grade
from coursekit.grading.judge.slot import Slot, SubmissionLimits
from coursekit.grading.verdict import Flag, Verdict
from coursekit.labs.cells import CellScore

# Right, with 1.6 GB on four ranks: less than a slot allows.
HUNGRY = """
import horovod.tensorflow as hvd
import numpy as np

def rank_facts():
    hvd.init()
    held = np.ones(50_000_000)
    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank(), **({} if held.all() else {"": 0})}
"""
KILLS_ITSELF = "import os, signal\ndef rank_facts():\n    os.kill(os.getpid(), signal.SIGKILL)"
QUIET, LOUD = SimpleNamespace(since=lambda: ""), SimpleNamespace(since=lambda: "no memory")


@pytest.mark.needs("bwrap")
def test_a_container_without_memory_costs_no_points(program, work, limited, in_fork):
    """A right answer whose ranks the kernel kills needs another run, and the instructor hears why."""
    enter = limited(memory=1 << 30)

    def judge():
        enter()
        with Slot(limits=SubmissionLimits(notebook_s=60, cell_s=5, memory_gb=2)) as slot:
            verdict = grade(program, work(facts=HUNGRY), slot)
        return verdict.scores, verdict.fault

    scores, fault = in_fork(judge)

    assert scores == []
    assert fault.startswith("memory ran out, and the kernel killed ")


def test_with_memory_the_same_answer_is_right_and_one_that_kills_itself_loses(program, work, slot):
    """Its own loss, as the solution earns all points in the same slot; the flag tells what happened."""
    verdict = grade(program, work(facts=KILLS_ITSELF), slot)

    assert grade(program, work(facts=HUNGRY), slot).points == 3
    assert (verdict.fault, verdict.points) == ("", 2)
    assert [flag.kind for flag in verdict.flags] == ["ProcessEnded"]


def verdict_of(points, *kinds, fault=""):
    """Return a verdict with these points of 3, and flags of these kinds."""
    score = CellScore("test", points, 3.0, "why" * (points < 3))
    return Verdict("01-small", "ada", (score,), tuple(Flag(kind, "so") for kind in kinds), fault)


@pytest.mark.parametrize(
    ("verdict", "before", "solution", "fault"),
    [
        (verdict_of(3, "ProcessEnded"), LOUD, None, ""),
        (verdict_of(1, "ProcessEnded", fault="too slow"), LOUD, None, ""),
        (verdict_of(1), QUIET, None, ""),
        (verdict_of(1, "ProcessEnded", "limit"), QUIET, None, ""),
        (verdict_of(1, "TimeoutError"), QUIET, None, ""),
        (verdict_of(1), LOUD, None, "no memory"),
        (verdict_of(1, "limit"), LOUD, None, ""),
        (verdict_of(1, "memory"), QUIET, verdict_of(3), ""),
        (verdict_of(1, "shortage"), QUIET, verdict_of(2), "the lab's own solution loses points here, too (why)"),
        (verdict_of(1, "judge"), QUIET, None, ""),
        (verdict_of(1, "memory"), QUIET, verdict_of(0, fault="no sandbox"), "no sandbox"),
    ],
)
def test_whose_fault_it_is(verdict, before, solution, fault):
    """A fault stays; where points were lost, the solution is judged in doubt alone, and the kit's limits leave none."""
    asked = []
    found = machines_fault(verdict, before, lambda: asked.append(1) or solution)

    assert found.partition(": grade with")[0] == fault
    assert len(asked) == (solution is not None)
