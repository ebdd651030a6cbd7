"""Jobs are remembered in the checkout, whatever happens to the process that submitted them, and whoever did."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from coursekit.errors import CourseKitError
from coursekit.slurm.jobs.remembered import SubmittedJob, adopt, find_job, recall, recall_all, remember
from coursekit.slurm.jobs.slurm_cli import JobState

SUBMITTED = "2026-11-20T17:00:00"  # the machine's time, without a zone, as Slurm writes it
SCRIPT = "slurm/jobs/karolina/03-keras-cnn-train.sbatch"


def job(number, submitted=SUBMITTED):
    """Return a job with this number."""
    when = datetime.fromisoformat(submitted).astimezone().isoformat()
    return SubmittedJob(str(number), "03-keras-cnn-train", "03-keras-cnn", "karolina", SCRIPT, when)


def queued(root):
    """Return this job as the queue shows it."""
    command = f"{root}/{SCRIPT} --num-epochs=90"
    name = "03-keras-cnn-train"
    return JobState("RUNNING", nodes="qgpu-1", name=name, submitted=SUBMITTED, folder=str(root), command=command)


def test_jobs_are_read_back_as_they_were(tmp_path):
    """All jobs come back, the oldest first, numbers as numbers; damaged and foreign files are passed over."""
    later = replace(job(9, "2026-11-20T18:00:00"), ending=JobState("TIMEOUT", elapsed="00:10:00", exit_code="0:0"))
    for one in (later, job(100), job(20)):
        remember(tmp_path, one)
    (tmp_path / "jobs" / "30.json").write_text('{"job_id": "30"}')
    (tmp_path / "jobs" / "40.json").write_text("{")
    (tmp_path / "jobs" / "notes.json").write_text("{}")
    (tmp_path / "jobs" / "01-sgd-9").mkdir()

    assert recall_all(tmp_path) == [job(20), job(100), later]
    assert [recall(tmp_path, number) for number in ("9", "30", "40", "50")] == [later, None, None, None]


def test_what_the_queue_tells(tmp_path):
    """Lab, site and script follow from the queue; other folders, array tasks and refused jobs are none of ours."""
    root = tmp_path / "my course (2026)"  # squeue puts nothing between a script and its words but a space
    root.mkdir()
    mine = queued(root)
    refused = replace(mine, state="FAILED", nodes="")
    own = replace(mine, command="/elsewhere/own.sbatch", name="own")
    adopt(root, {"5": mine, "6": replace(mine, folder="/elsewhere"), "7_1": mine, "8": refused, "9": own})

    expected = SubmittedJob("9", "own", "own", "", "/elsewhere/own.sbatch", job(9).submitted)
    assert recall_all(root) == [job(5), expected]


def test_what_is_known_of_a_job_is_kept(tmp_path):
    """The queue still shows a job whose ending was written down."""
    ended = replace(job(5), ending=JobState("COMPLETED"))
    remember(tmp_path, ended)
    adopt(tmp_path, {"5": queued(tmp_path)})
    assert recall(tmp_path, "5") == ended


@pytest.mark.parametrize("word", ["", "abc", "7_1", "../7", "-7"])
def test_only_numbers_are_jobs(tmp_path, word):
    """What is not a number is refused, before it gets to Slurm or into a path."""
    with pytest.raises(CourseKitError, match="is not a job: give the number that `coursekit jobs` shows"):
        find_job(tmp_path, word)
