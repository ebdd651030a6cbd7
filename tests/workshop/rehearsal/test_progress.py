"""What a rehearsal says while it runs: each line with the time, changes as they come, and signs of life between."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from workshop.rehearsal.jobs import RehearsedJob
from workshop.rehearsal.progress import RehearsalProgress, table

HELD = RehearsedJob("03.sbatch", "3", "PENDING", held=True)
RUNS = RehearsedJob("02.sbatch", "2", "RUNNING", 35, "deep-1", "cell 13/29")
DONE = RehearsedJob("01.sbatch", "1", "COMPLETED", 44, "deep-1", "ran to its end")


@pytest.fixture
def said():
    """A function that shows states of jobs in a plain log, one after the other, and returns its lines without times."""

    def show(*states, sign_of_life_s=1e9):
        output = io.StringIO()
        progress = RehearsalProgress(Console(file=output), sign_of_life_s)
        for jobs in states:
            progress.show(jobs)
        lines = output.getvalue().splitlines()
        assert all(re.match(r"\[\d+:\d\d\] ", line) for line in lines)
        return [line.partition("] ")[2] for line in lines]

    return show


def test_jobs_that_wait_say_nothing(said):
    """Seven lines of PENDING tell nobody anything; a refusal at once does."""
    refused = RehearsedJob("04.sbatch", "", "REFUSED", last_line="Invalid qos", held=True)

    assert said([HELD] * 7) == []
    assert said([HELD, refused], [HELD, refused]) == ["04.sbatch: REFUSED: Invalid qos"]


def test_changes_are_said_once(said):
    """Where a job runs, and how it ended, with its seconds and last line."""
    waiting = RehearsedJob("02.sbatch", "2", "PENDING")

    assert said([waiting], [RUNS], [RUNS], [DONE]) == [
        "02.sbatch: RUNNING on deep-1",
        "01.sbatch: COMPLETED after 44 s: ran to its end",
    ]


def test_a_sign_of_life_counts_and_says_how_far_each_is(said):
    """After a while without a change: how many are done, and the last line of those that run."""
    assert (
        said([HELD, RUNS, DONE], sign_of_life_s=0)[-1] == "1 of 3 scripts done, 1 running; 02.sbatch 35 s, cell 13/29"
    )


def test_the_table_shows_who_waits_for_its_turn():
    """The table has a row for each job, and what runs is told from what is kept back."""
    output = io.StringIO()
    Console(file=output, width=100).print(table([HELD, RUNS]))

    assert re.search(r"03.sbatch +│ waits its turn", output.getvalue())
    assert re.search(r"02.sbatch +│ RUNNING +│ 35", output.getvalue())
