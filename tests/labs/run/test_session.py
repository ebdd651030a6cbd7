"""A run that is killed, resumed, stopped by Ctrl-C and resumed again: three real runs of one course."""

from __future__ import annotations

import json
import signal
import time

import pytest

from coursekit.processes import is_alive

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


def verdicts(course):
    """Verdict and note of each lab in the JSON report."""
    labs = json.loads((course.latest / "report.json").read_text())["labs"]
    return [(lab["lab"], lab["verdict"], lab["note"]) for lab in labs]


def wait_for_kernels_to_notice(course):
    """Kernels look once a second whether their parent is still there."""
    deadline = time.monotonic() + 300
    while len(course.processes()) > 1 and time.monotonic() < deadline:
        time.sleep(0.1)


@pytest.fixture(scope="module")
def story(course):
    """Kill a run, resume and interrupt it, change a lab and resume again; what was found after each."""
    for name, source in (("01-quick", QUICK), ("02-slow", SLOW), ("03-last", QUICK)):
        course.add(name, source)
    (course.root / "wait").touch()
    found = {}

    process = start_until_slow_cell(course, "-p", "number", "7")
    orphans = course.processes()
    process.kill()
    process.communicate()
    wait_for_kernels_to_notice(course)
    first = course.latest
    found["killed"] = verdicts(course)
    found["left by kill"] = course.processes() & orphans

    process = start_until_slow_cell(course, "--resume")
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=900)
    found["interrupted"] = verdicts(course)
    found["status"], found["output"], found["errors"] = process.returncode, output, errors
    found["left by Ctrl-C"] = course.processes()

    (course.root / "wait").unlink()
    course.add("01-quick", QUICK + "assert number == 7\n")
    found["last"] = course.run("--resume")
    found["finished"] = verdicts(course)
    found["folders"] = [path for path in course.runs.iterdir() if not path.is_symlink()] == [first]
    return found


def test_a_kill_loses_only_the_lab_in_progress(story):
    """The report on disk after SIGKILL has the labs that had ended."""
    assert story["killed"] == [("01-quick", "passed", ""), ("02-slow", "not run", ""), ("03-last", "not run", "")]


def test_what_a_killed_run_left_is_ended_by_the_next(story):
    """SIGKILL leaves no chance to tidy up: the process below the kernel lives on until `--resume`."""
    assert len(story["left by kill"]) == 1
    assert not any(is_alive(process) for process in story["left by kill"])


def test_ctrl_c_reports_what_is_done(story):
    """The status is 130, the lab in progress is interrupted, later ones are not run, finished ones are kept."""
    assert story["status"] == 130
    assert story["interrupted"] == [
        ("01-quick", "passed", "kept from an earlier attempt"),
        ("02-slow", "interrupted", ""),
        ("03-last", "not run", ""),
    ]
    assert "interrupted 02-slow: stopped by a signal in cell 2 (slow-tests)" in story["output"]
    assert story["errors"] == ""


def test_ctrl_c_leaves_no_process(story):
    """A second, impatient Ctrl-C does not cut the tidying short."""
    assert story["left by Ctrl-C"] == set()


def test_resume_runs_what_is_missing_or_changed_and_says_why(story):
    """The parameters of the first run still hold: the changed lab passes only with them."""
    assert story["last"].returncode == 0, story["last"].stdout
    assert story["finished"] == [
        ("01-quick", "passed", "run again: its source changed"),
        ("02-slow", "passed", "run again: interrupted before"),
        ("03-last", "passed", ""),
    ]


def test_resume_stays_in_the_folder_of_the_run(story):
    """All attempts are one run."""
    assert story["folders"]
