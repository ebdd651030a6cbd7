"""Runs that are killed and stopped by Ctrl-C: two real runs of one course, each in a folder of its own."""

import json
import signal
import time
from contextlib import suppress

import psutil
import pytest

from coursekit.errors import codes_in
from coursekit.labs.run.jobs_folder import new_folder
from coursekit.labs.run.session import point_latest

QUICK = """\
# %% tags=["parameters"]
number = 1

# %% role="tests" id="quick-tests" points=1
assert number
"""

# Waits as long as the course says so, with a process below it that does not end by itself.
SLOW = """\
# %% role="answer" id="below"
### BEGIN SOLUTION
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=True)
### END SOLUTION

# %% role="tests" id="slow-tests" points=1
while pathlib.Path("../../../../wait").exists():
    time.sleep(0.05)
"""
SLOW_CELL = "lab 2/3 02-slow: cell 2/2 slow-tests\n"


def start_until_slow_cell(course, *words):
    """Start a run and return it when it waits in the slow lab."""
    process = course.start(*words)
    while process.stdout.readline() != SLOW_CELL:
        assert process.poll() is None, process.stderr.read()
    return process


def verdicts(folder):
    """Verdict of each lab in the JSON report of a run."""
    labs = json.loads((folder / "report.json").read_text())["labs"]
    return [(lab["lab"], lab["verdict"]) for lab in labs]


@pytest.fixture(scope="module")
def story(course):
    """Kill a run and interrupt the next; what was found after each."""
    for name, source in (("01-quick", QUICK), ("02-slow", SLOW), ("03-last", QUICK)):
        course.add(name, source)
    (course.root / "wait").touch()
    found = {}

    process = start_until_slow_cell(course)
    left = course.processes()
    process.kill()
    process.communicate()
    found["first"] = first = course.latest.resolve()
    found["executed"] = (first / "01-quick" / "01-quick.ipynb").read_bytes()

    process = start_until_slow_cell(course)
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    found["output"], found["errors"] = process.communicate(timeout=900)
    found["status"], found["second"] = process.returncode, course.latest.resolve()
    found["left"] = course.processes() - left

    (course.root / "wait").unlink()  # it was killed, but not what its lab had started
    for one in left | course.processes():
        with suppress(psutil.Error):
            one.kill()
    return found


def test_a_kill_loses_only_the_lab_in_progress(story):
    """The report on disk after SIGKILL has the labs that had ended, and the next run changes nothing of it."""
    assert verdicts(story["first"]) == [("01-quick", "passed"), ("02-slow", "not run"), ("03-last", "not run")]
    assert (story["first"] / "01-quick" / "01-quick.ipynb").read_bytes() == story["executed"]
    assert story["second"] != story["first"]


def test_ctrl_c_reports_what_is_done(story):
    """The status is 130, the lab in progress is interrupted, later ones are not run, finished ones are kept."""
    assert story["status"] == 130
    assert verdicts(story["second"]) == [("01-quick", "passed"), ("02-slow", "interrupted"), ("03-last", "not run")]
    assert codes_in(story["output"]) == ["lab.interrupted"]
    assert story["errors"] == ""


def test_ctrl_c_leaves_no_process(story):
    """A second, impatient Ctrl-C does not cut the tidying short."""
    assert story["left"] == set()


def test_runs_of_one_second_get_folders_of_their_own(tmp_path, monkeypatch):
    """Also a job that Slurm starts again; `latest` leads to the one named last."""
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    made = [new_folder(tmp_path) for _ in range(3)]
    assert [folder.name for folder in made] == ["7", "7-attempt-2", "7-attempt-3"]
    for folder in made:
        point_latest(folder)
        assert (tmp_path / "latest").resolve() == folder
