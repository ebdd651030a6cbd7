"""Why a job waits: every reason that the installed Slurm knows has words."""

from __future__ import annotations

import ctypes
from datetime import datetime
from pathlib import Path

import pytest

from coursekit.slurm.jobs.explain import explain_pending

NOW = datetime(2026, 11, 20, 17, 0)  # noqa: DTZ001  # as Slurm's, without a zone
# Reasons of a job that has ended; no waiting job has them.
OF_ENDED_JOBS = {"SystemFailure", "NonZeroExitCode", "TimeLimit", "InactiveLimit", "OutOfMemory"}


@pytest.mark.needs("squeue")
def test_every_reason_of_slurm_has_words():
    """No reason that Slurm's own library names is answered with a shrug, those of ended jobs excepted."""
    library = ctypes.CDLL(str(next(Path("/usr/lib").glob("*/slurm-wlm/libslurmfull.so"))))
    name = next(name for name in ("slurm_job_reason_string", "job_reason_string") if hasattr(library, name))
    function = getattr(library, name)
    function.restype = ctypes.c_char_p
    names = {function(number).decode() for number in range(300)}
    reasons = {name for name in names if not name.isdigit()}

    assert len(reasons) > 150
    shrugged = {reason for reason in reasons if "does not know" in explain_pending("5", reason)}
    assert shrugged == OF_ENDED_JOBS


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("Priority", "other jobs are ahead of it"),
        (
            "ReqNodeNotAvail, Reserved for maintenance",
            "maintenance begins before it could end: ask for a shorter time, or wait for it",
        ),
        ("ReqNodeNotAvail, UnavailableNodes:n1", "nodes that it needs are down, switched off or reserved"),
        ("JobHeldUser", "you hold it: `scontrol release 5` releases it"),
        ("launch_failed_requeued_held", "its node could not start it: `scontrol release 5` tries again"),
        ("AssocGrpCPUMinutesLimit", "your project has used up its hours: ask the course's instructors"),
        ("QOSMaxJobsPerUserLimit", "you, or your project, have as many jobs as allowed: wait for one to end"),
        ("QOSMaxGRESPerUser", "your jobs, or your project's, use all that they may use at once: wait for one to end"),
        ("SomethingNew", "Slurm gives a reason that this kit does not know"),
    ],
)
def test_a_reason_in_words(reason, expected):
    """A sentence says why, what to do where one can do something, and Slurm's own word."""
    assert explain_pending("5", reason, now=NOW) == f"Job 5 waits: {expected} ({reason})."


def test_a_job_without_a_reason():
    """Until Slurm has looked at a job it gives none."""
    assert explain_pending("5", "") == "Job 5 waits: Slurm has not looked at it yet."


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("2026-11-20T17:20:00", " Slurm expects it to start at 17:20."),
        ("2026-11-21T09:00:00", " Slurm expects it to start at 09:00 on Saturday, 21 November."),
        ("2026-11-20T16:00:00", ""),
        ("", ""),
    ],
)
def test_the_start_that_slurm_expects(start, expected):
    """An estimate is told by the clock; one that has passed, or none, is left out."""
    assert (
        explain_pending("5", "Priority", start, NOW) == f"Job 5 waits: other jobs are ahead of it (Priority).{expected}"
    )
