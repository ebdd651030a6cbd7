"""`workshop rehearse` runs the scripts of any site that has a file, unmodified, and says how each goes and went."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from coursekit.errors import CourseKitError
from workshop.rehearsal.jobs import RehearsalProgress, RehearsedJob, find_scripts, small_words

from .conftest import LAB, NAME, OTHERS, PROGRAMS

ROOT = Path(__file__).parents[3]
SITE = NAME
TIMEOUT_S = 900
HELD = RehearsedJob("03.sbatch", "3", "PENDING", held=True)
RUNS = RehearsedJob("02.sbatch", "2", "RUNNING", 35, "deep-1", "cell 13/29")
DONE = RehearsedJob("02.sbatch", "2", "COMPLETED", 44, "deep-1", "ran to its end")


@pytest.mark.needs(*PROGRAMS)
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_every_script_is_reported(course):
    """A lab completes, JupyterLab answers, a failure keeps its last line, a refusal Slurm's words; status 1.

    Only what was asked for, by the beginning of its name, is submitted.
    """
    done = _rehearse(course, "01", "bad", "goo", "jupyter", "refused", "--json", "report.json")
    assert done.returncode == 1, done.stdout + done.stderr
    assert (course / "report.json").is_file(), done.stdout + done.stderr
    report = json.loads((course / "report.json").read_text())
    jobs = {job["script"].removesuffix(".sbatch"): job for job in report["jobs"]}
    assert {name: job["state"] for name, job in jobs.items()} == {
        LAB: "COMPLETED",
        "bad": "FAILED",
        "good": "COMPLETED",
        "jupyter": "ANSWERED",
        "refused": "REFUSED",
    }
    assert jobs["good"]["nodes"] == "deep-[1-2]", done.stdout
    assert jobs["bad"]["last_line"] == "this went wrong"
    assert jobs["refused"]["last_line"].endswith("Invalid feature specification")
    assert "\nfirst\nthis went wrong\n" in done.stdout
    assert not (course / "jobs").exists()  # nothing was run in the checkout itself


def test_scripts_are_chosen_by_path_name_or_beginning(course):
    """No names stand for all scripts, in the order of their names; a name in full wins over the beginning of others."""
    folder = course / "slurm" / "jobs" / SITE
    (folder / "bad-too.sbatch").write_text(OTHERS["bad"])
    chosen = find_scripts(course, SITE, ["01", f"slurm/jobs/{SITE}/bad.sbatch"])
    everything = [path.stem for path in find_scripts(course, SITE, [])]
    (folder / "bad-too.sbatch").unlink()
    assert [path.stem for path in chosen] == [LAB, "bad"]
    assert everything == [LAB, "bad", "bad-too", "good", "jupyter", "refused", "stubborn", "unasked"]


@pytest.mark.parametrize("lab", [path.parent.name for path in sorted(ROOT.glob("labs/*/train.py"))])
def test_a_small_training_gets_options_that_it_has(lab):
    """Each training gets at least its number of epochs; a notebook's script gets no options."""
    command = [sys.executable, str(ROOT / "labs" / lab / "train.py"), "--help"]
    known = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    options = small_words(Path(f"{lab}-train.sbatch"), ROOT)[0].split()
    assert "--num-epochs" in options
    assert {word for word in options if word.startswith("--")} <= set(known)
    assert small_words(Path(f"{lab}.sbatch"), ROOT)[0] == ""


@pytest.mark.parametrize(
    ("site", "names", "code"), [(SITE, ["02"], "job-script.unknown"), ("lemuria", [], "job-script.missing")]
)
def test_unknown_scripts_are_refused(course, site, names, code):
    """A script or a site's folder that is not there."""
    with pytest.raises(CourseKitError) as caught:
        find_scripts(course, site, names)
    assert caught.value.code == code


def _rehearse(course, *words):
    return subprocess.run(
        ["workshop", "rehearse", "--site", SITE, *words],
        cwd=course,
        env={name: value for name, value in os.environ.items() if not name.startswith("COURSEKIT_")},
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )


def test_changes_are_said_once():
    """Jobs that wait say nothing; the others where they run, how they ended, with what last line, and how many did."""
    output = io.StringIO()
    progress = RehearsalProgress(Console(file=output))
    for jobs in ([HELD], [HELD, RUNS], [HELD, RUNS], [HELD, DONE], [HELD, DONE]):
        progress.show(jobs)
    running, done = output.getvalue().splitlines()

    assert [part for part in ("02.sbatch", "RUNNING", "deep-1") if part not in running] == []
    assert [part for part in ("02.sbatch", "COMPLETED", "44 s", DONE.last_line, "1 of 2") if part not in done] == []
