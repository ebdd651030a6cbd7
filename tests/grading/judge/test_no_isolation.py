"""An account may have so many namespaces and no more: when they run out, that is the machine's fault."""

import os
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.grading.isolation import system
from coursekit.grading.judge import slot as slot_module
from coursekit.grading.judge.pool_worker import grade
from coursekit.grading.judge.slot import Slot, SubmissionLimits
from coursekit.ranks.horovod_build import JOINS_NOBODY

pytestmark = pytest.mark.needs("bwrap")
NUM_NAMESPACES = 5  # two of the sandbox, one of the shell, and two for four ranks


def _become_limited():
    """Be root of a user namespace in which there may be few others: this process, which has one thread."""
    uid, gid = os.getuid(), os.getgid()
    system.unshare(system.NEW_USER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        Path("/proc/self", name).write_text(text)
    Path("/proc/sys/user/max_user_namespaces").write_text(str(NUM_NAMESPACES))


def test_ranks_that_cannot_be_isolated_are_no_students_fault(program, work, in_fork):
    """The verdict has a fault that says why, and no score; a lost point would have been kept for good."""

    def judge():
        _become_limited()
        with Slot(limits=SubmissionLimits(notebook_s=60, cell_s=5, memory_gb=2)) as slot:
            verdict = grade(program, work(), slot)
        return verdict.fault, len(verdict.scores)

    fault, num_scores = in_fork(judge)

    assert "this account has reached its limit" in fault
    assert num_scores == 0


def test_a_sandbox_that_is_late_is_told_as_such(monkeypatch):
    """With what the machine has to do, and what helps; what a library wrote meanwhile is no reason."""
    monkeypatch.setattr(slot_module, "START_TIMEOUT_S", 0.01)
    monkeypatch.setattr(os, "getloadavg", lambda: (99.6, 1, 1))
    with Slot() as slot, pytest.raises(CourseKitError, match=r"not start within 0.01 s \(load 100 on .*`--jobs 1`"):  # noqa: SIM117
        with slot.submission():
            pass


JOINS_NOBODY_HERE = "import coursekit, horovod.tensorflow as hvd; hvd.gloo_built = hvd.mpi_built = bool; from coursekit"


def test_a_horovod_that_joins_nobody_is_no_students_fault(program, work, monkeypatch):
    """It is told before any of the student's code runs, and of the next hand-in without another sandbox."""
    monkeypatch.setattr(slot_module, "PROGRAM", slot_module.PROGRAM.replace("from coursekit", JOINS_NOBODY_HERE, 1))
    with Slot(limits=SubmissionLimits(notebook_s=60, cell_s=5, memory_gb=2)) as slot:
        with pytest.raises(CourseKitError) as first:
            grade(program, work(), slot)
        monkeypatch.setattr(slot_module, "PROGRAM", "raise SystemExit('another sandbox')")
        with pytest.raises(CourseKitError) as second:
            grade(program, work(), slot)
    assert str(first.value) == str(second.value) == str(JOINS_NOBODY)
