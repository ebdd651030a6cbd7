"""`coursekit jobs` where there is no Slurm, and what it costs."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from coursekit.cli.jobs import jobs
from coursekit.errors import CourseKitError
from coursekit.slurm.jobs.remembered import SubmittedJob, remember
from coursekit.slurm.jobs.slurm_cli import JobState

JOB = SubmittedJob(
    "7", "01-sgd", "01-sgd", "karolina", "slurm/jobs/karolina/01-sgd.sbatch", "2026-11-20T17:00:00+00:00"
)


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Return a checkout on a machine without Slurm."""
    (tmp_path / "solutions").mkdir()
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_files_tell_of_jobs_without_slurm(course):
    """A laptop that shares the folder, or a controller that is down: endings and last words of logs are still shown."""
    remember(course, replace(JOB, ending=JobState("TIMEOUT", elapsed="00:10:00")))
    remember(course, replace(JOB, job_id="8"))
    (course / "01-sgd-8.out").write_text("lab 1/1 01-sgd: cell 1/29 imports\nlab 1/1 01-sgd: cell 2/29 data\n\n")
    shown = CliRunner().invoke(jobs, [], catch_exceptions=False).output.splitlines()

    assert shown[0] == (
        "there is no squeue on this machine: jobs are handled on a login node. "
        "This is what the files of your jobs tell:"
    )
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in shown if line.startswith("│")]
    assert rows == [
        ["7", "01-sgd", "karolina", "TIMEOUT", "00:10:00", ""],
        ["8", "01-sgd", "karolina", "UNKNOWN", "", "lab 1/1 01-sgd: cell 2/29 data"],
    ]


def test_an_ending_is_shown_again_without_slurm(course):
    """What is written down can be followed to its end anywhere, explanation included."""
    remember(course, replace(JOB, ending=JobState("FAILED", elapsed="0:05", exit_code="1:0")))
    (course / "01-sgd-7.out").write_text("OSError: [Errno 98] Address already in use\n")
    result = CliRunner().invoke(jobs, ["7", "--follow"])

    assert result.exit_code == 1
    assert result.output == (
        "OSError: [Errno 98] Address already in use\n\n"
        "Job 7 (01-sgd) ended as FAILED after 0:05.\n"
        "A port that the job needs is used by another program on that node. "
        "Submit again, or choose another port.\n"
        "    recognised by: OSError: [Errno 98] Address already in use\n"
        "The whole log is 01-sgd-7.out.\n"
    )


@pytest.mark.usefixtures("course")
def test_no_jobs_and_wrong_numbers():
    """An empty list says how to begin; a number that is none of this folder's is refused in one sentence."""
    assert "coursekit submit LAB --site NAME" in CliRunner().invoke(jobs, []).output
    with pytest.raises(CourseKitError, match=r"^no job 9 was submitted from "):
        CliRunner().invoke(jobs, ["9", "--follow"], catch_exceptions=False)
    assert "--follow needs the number of a job" in CliRunner().invoke(jobs, ["--follow"]).output


def test_a_list_of_jobs_does_not_wait_for_heavy_packages():
    """nbgrader, papermill and TensorFlow take seconds to import, and a list of jobs needs none of them."""
    code = "import sys, coursekit.cli.jobs; print({'nbgrader', 'papermill', 'tensorflow'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=Path("/"))
    assert shown.stdout == "set()\n"
