"""Jobs are remembered in the checkout, whatever happens to who submitted them, and `coursekit jobs` lists them."""

import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from coursekit.cli.jobs import jobs
from coursekit.errors import CourseKitError, codes_in
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
    return JobState("RUNNING", nodes="n1", name=name, submitted=SUBMITTED, folder=str(root), command=command)


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
    """Lab, site and script follow from the queue; other folders and refused jobs are none of ours."""
    root = tmp_path / "my course (2026)"  # squeue puts nothing between a script and its words but a space
    root.mkdir()
    mine = queued(root)
    refused = replace(mine, state="FAILED", nodes="")
    own = replace(mine, command="/elsewhere/own.sbatch", name="own")
    unnamed = replace(mine, command="", name=" ")  # of --wrap
    queue = {"5": mine, "6": replace(mine, folder="/elsewhere"), "8": refused, "9": own, "10": unnamed, "7_12": mine}
    adopt(root, {**queue, "7_2": mine})

    expected = [
        job(5),
        *(replace(job(7), job_id=task) for task in ("7_2", "7_12")),
        SubmittedJob("9", "own", "own", "", "/elsewhere/own.sbatch", job(9).submitted),
        SubmittedJob("10", " ", " ", "", ".", job(9).submitted),
    ]
    assert recall_all(root) == expected


def test_what_is_known_of_a_job_is_kept(tmp_path):
    """The queue still shows a job whose ending was written down."""
    ended = replace(job(5), ending=JobState("COMPLETED"))
    remember(tmp_path, ended)
    adopt(tmp_path, {"5": queued(tmp_path)})
    assert recall(tmp_path, "5") == ended


@pytest.mark.parametrize("word", ["", "abc", "7_", "7_[1-4]", "../7", "-7"])
def test_only_numbers_are_jobs(tmp_path, word):
    """What is not a number is refused, before it gets to Slurm or into a path."""
    with pytest.raises(CourseKitError) as refused:
        find_job(tmp_path, word)
    assert refused.value.code == "job.no-number"


def lab_01(number):
    """Return a job of lab 01 with this number."""
    return replace(job(number), name="01-sgd", lab="01-sgd", script="slurm/jobs/karolina/01-sgd.sbatch")


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
    remember(course, replace(lab_01(7), ending=JobState("TIMEOUT", elapsed="00:10:00")))
    remember(course, lab_01(8))
    (course / "01-sgd-8.out").write_text("lab 1/1 01-sgd: cell 1/29 imports\nlab 1/1 01-sgd: cell 2/29 data\n\n")
    shown = CliRunner().invoke(jobs, [], catch_exceptions=False).output.splitlines()

    assert "[slurm.no-command]" in shown[0]
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in shown if line.startswith("│")]
    assert rows == [
        ["7", "01-sgd", "karolina", "TIMEOUT", "00:10:00", ""],
        ["8", "01-sgd", "karolina", "UNKNOWN", "", "lab 1/1 01-sgd: cell 2/29 data"],
    ]


def test_an_ending_is_shown_again_without_slurm(course):
    """What is written down can be followed to its end anywhere, explanation included."""
    remember(course, replace(lab_01(7), ending=JobState("FAILED", elapsed="0:05", exit_code="1:0")))
    (course / "01-sgd-7.out").write_text("OSError: [Errno 98] Address already in use\n")
    result = CliRunner().invoke(jobs, ["7", "--follow"])

    assert result.exit_code == 1
    log, _, ending, cause, evidence, where = result.output.splitlines()
    assert log == "OSError: [Errno 98] Address already in use"
    assert [part for part in ("7", "01-sgd", "FAILED", "0:05") if part not in ending] == []
    assert (codes_in(cause), evidence.endswith(log), "01-sgd-7.out" in where) == (["port.taken"], True, True)


@pytest.mark.usefixtures("course")
def test_no_jobs_and_wrong_numbers():
    """An empty list says how to begin; a number that is none of this folder's is refused."""
    assert "coursekit submit LAB --site NAME" in CliRunner().invoke(jobs, []).output
    assert CliRunner().invoke(jobs, ["9", "--follow"]).exception.code == "job.unknown"
    assert CliRunner().invoke(jobs, ["--follow"]).exit_code == 2


def test_a_list_of_jobs_does_not_wait_for_heavy_packages():
    """nbgrader, papermill and TensorFlow take seconds to import, and a list of jobs needs none of them."""
    code = "import sys, coursekit.cli.jobs; print({'nbgrader', 'papermill', 'tensorflow'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=Path("/"))
    assert shown.stdout == "set()\n"
