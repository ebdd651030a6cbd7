"""Jobs that `sbatch` itself submitted are taken over from the queue."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from coursekit.errors import CourseKitError
from coursekit.slurm.jobs.listing import adopt, find_job
from coursekit.slurm.jobs.remembered import SubmittedJob, recall, recall_all, remember
from coursekit.slurm.jobs.slurm_cli import JobState

TIME = datetime(2026, 11, 20, 17, 0)  # noqa: DTZ001  # Slurm writes the machine's time, without a zone


@pytest.fixture
def queued(tmp_path):
    """Return a job of this checkout as the queue shows it."""
    script = tmp_path / "slurm" / "jobs" / "karolina" / "03-keras-cnn-train.sbatch"
    return JobState(
        "RUNNING",
        nodes="qgpu-1",
        name="03-keras-cnn-train",
        submitted=TIME.isoformat(),
        folder=str(tmp_path),
        command=f"{script} --num-epochs=90",
    )


def record(job_id="5", time=TIME, ending=None):
    """Return the record that belongs to it."""
    script = "slurm/jobs/karolina/03-keras-cnn-train.sbatch"
    when = time.astimezone().isoformat()
    return SubmittedJob(job_id, "03-keras-cnn-train", "03-keras-cnn", "karolina", script, when, ending)


def test_what_the_queue_tells(tmp_path, queued):
    """Lab, site and script follow from the queue; other folders, array tasks and refused jobs are none of ours."""
    refused = replace(queued, state="FAILED", nodes="")
    adopt(
        tmp_path,
        {
            "5": queued,
            "6": replace(queued, folder="/elsewhere"),
            "7_1": queued,
            "8": refused,
            "9": replace(queued, command="/elsewhere/own.sbatch", name="own"),
        },
    )
    own = SubmittedJob("9", "own", "own", "", "/elsewhere/own.sbatch", record().submitted)
    assert recall_all(tmp_path) == [record(), own]


def test_a_checkout_may_have_spaces_in_its_path(tmp_path, queued):
    """The script is whole, although squeue puts nothing between it and its words but a space."""
    root = tmp_path / "my course (2026)"
    root.mkdir()
    moved = replace(queued, folder=str(root), command=queued.command.replace(str(tmp_path), str(root)))
    adopt(root, {"5": moved})
    assert recall_all(root) == [record()]


def test_a_number_that_comes_again_is_another_job(tmp_path, queued):
    """A later job with the number of one that ended replaces it; the job itself, seen again, does not."""
    ended = record(ending=JobState("COMPLETED"))
    remember(tmp_path, ended)
    adopt(tmp_path, {"5": queued})
    assert recall(tmp_path, "5") == ended
    later = TIME + timedelta(hours=1)
    adopt(tmp_path, {"5": replace(queued, submitted=later.isoformat())})
    assert recall(tmp_path, "5") == record(time=later)
    adopt(tmp_path, {"5": replace(queued, submitted=(later + timedelta(hours=1)).isoformat())})
    assert recall(tmp_path, "5") == record(time=later)  # it runs: Slurm has put it into the queue again


@pytest.mark.parametrize("word", ["", "abc", "7_1", "../7", "-7"])
def test_only_numbers_are_jobs(tmp_path, word):
    """What is not a number is refused, before it gets to Slurm or into a path."""
    with pytest.raises(CourseKitError, match="is not a job: give the number that `coursekit jobs` shows"):
        find_job(tmp_path, word)
