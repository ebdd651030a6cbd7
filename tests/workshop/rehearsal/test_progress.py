"""What a rehearsal says while it runs: each line with the time, changes as they come."""

from __future__ import annotations

import io
import re

from rich.console import Console

from workshop.rehearsal.jobs import RehearsalProgress, RehearsedJob

HELD = RehearsedJob("03.sbatch", "3", "PENDING", held=True)
RUNS = RehearsedJob("02.sbatch", "2", "RUNNING", 35, "deep-1", "cell 13/29")
DONE = RehearsedJob("02.sbatch", "2", "COMPLETED", 44, "deep-1", "ran to its end")
REFUSED = RehearsedJob("04.sbatch", "", "REFUSED", last_line="Invalid qos", held=True)


def test_changes_are_said_once():
    """Jobs that wait say nothing; the others where they run, how they ended, with what last line, and how many did."""
    output = io.StringIO()
    progress = RehearsalProgress(Console(file=output))
    for jobs in ([HELD], [HELD, RUNS], [HELD, RUNS], [HELD, DONE, REFUSED], [HELD, DONE, REFUSED]):
        progress.show(jobs)
    lines = output.getvalue().splitlines()

    assert all(re.match(r"\[\d+:\d\d\] ", line) for line in lines)
    assert [line.partition("] ")[2] for line in lines] == [
        "02.sbatch: RUNNING on deep-1",
        "02.sbatch: COMPLETED after 44 s: ran to its end (2 of 3 done)",
        "04.sbatch: REFUSED after 0 s: Invalid qos (2 of 3 done)",
    ]
