"""Accounting's lines are read as Slurm writes them."""

from __future__ import annotations

from coursekit.slurm.jobs.states import JobState, parse_accounting

# As sacct of Slurm 22.05 wrote them: a job that completed, one that root cancelled, one whose step used too much
# memory, one that the time limit ended, and one that never started.
LINES = """\
1|COMPLETED|00:00:23|2026-11-20T17:41:02|main-1|0:0
1.batch|COMPLETED|00:00:23|2026-11-20T17:41:02|main-1|0:0
7|CANCELLED by 0|00:00:20|2026-11-20T17:43:58|main-1|0:0
7.batch|CANCELLED|00:00:20|2026-11-20T17:43:58|main-1|0:15
7.0|CANCELLED|00:00:20|2026-11-20T17:43:58|main-1|0:15
8|FAILED|00:00:04|2026-11-20T17:43:58|main-2|1:0
8.batch|FAILED|00:00:04|2026-11-20T17:43:58|main-2|1:0
8.0|OUT_OF_MEMORY|00:00:03|2026-11-20T17:43:58|main-2|0:125
21|TIMEOUT|00:01:24|2026-11-20T17:44:02|main-2|0:0
23|CANCELLED by 0|00:00:00|Unknown|None assigned|0:0
"""


def test_jobs_of_accounting():
    """A step that ran out of memory tells why its job failed; who cancelled is kept; values for nothing are ''."""
    assert parse_accounting(LINES) == {
        "1": JobState("COMPLETED", "", "2026-11-20T17:41:02", "00:00:23", "main-1", "0:0"),
        "7": JobState("CANCELLED", "", "2026-11-20T17:43:58", "00:00:20", "main-1", "0:0", "0"),
        "8": JobState("OUT_OF_MEMORY", "", "2026-11-20T17:43:58", "00:00:04", "main-2", "1:0"),
        "21": JobState("TIMEOUT", "", "2026-11-20T17:44:02", "00:01:24", "main-2", "0:0"),
        "23": JobState("CANCELLED", "", "", "00:00:00", "", "0:0", "0"),
    }
    assert [state.ever_ran for state in parse_accounting(LINES).values()] == [True, True, True, True, False]


def test_a_job_that_was_put_back_is_read_from_its_last_line():
    """With --duplicates in somebody's environment the newest line of a number counts."""
    text = "5|NODE_FAIL|00:01:00|2026-11-20T17:00:00|n1|1:0\n5|RUNNING|00:00:10|2026-11-20T17:03:00|n2|0:0\n"
    assert parse_accounting(text) == {"5": JobState("RUNNING", "", "2026-11-20T17:03:00", "00:00:10", "n2", "0:0")}
