"""Jobs are remembered in the checkout, whatever happens to the process that submitted them."""

from __future__ import annotations

from dataclasses import replace

from coursekit.slurm.jobs.remembered import SubmittedJob, recall, recall_all, remember
from coursekit.slurm.jobs.slurm_cli import JobState


def job(number, submitted="2026-11-20T17:00:00+01:00"):
    """Return a job with this number."""
    return SubmittedJob(str(number), "01-sgd", "01-sgd", "karolina", "slurm/jobs/karolina/01-sgd.sbatch", submitted)


def test_jobs_are_read_back_as_they_were(tmp_path):
    """All jobs come back, the oldest first, numbers as numbers; damaged and foreign files are passed over."""
    later = job(9, "2026-11-20T18:00:00+01:00")
    for one in (later, job(100), job(20)):
        remember(tmp_path, one)
    (tmp_path / "jobs" / "30.json").write_text('{"job_id": "30"}')
    (tmp_path / "jobs" / "40.json").write_text("{")
    (tmp_path / "jobs" / "notes.json").write_text("{}")
    (tmp_path / "jobs" / "01-sgd-9").mkdir()

    assert recall_all(tmp_path) == [job(20), job(100), later]
    assert [recall(tmp_path, number) for number in ("9", "30", "40", "50")] == [later, None, None, None]


def test_an_ending_is_remembered(tmp_path):
    """How a job ended is kept, for the time when Slurm has forgotten it."""
    ended = replace(job(7), ending=JobState("TIMEOUT", elapsed="00:10:00", exit_code="0:0"))
    remember(tmp_path, ended)
    assert recall(tmp_path, "7") == ended


def test_where_a_job_leaves_its_files():
    """Log and folder follow from name and number, as the job scripts have them."""
    assert (job(7).log, job(7).folder) == ("01-sgd-7.out", "jobs/01-sgd-7")
