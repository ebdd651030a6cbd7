"""A site's job of all solutions, and `coursekit execute`: labs reported as on this machine."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from coursekit.errors import codes_in
from coursekit.slurm.sites.load import load_site
from workshop.rehearsal.cluster import Cluster
from workshop.rehearsal.course_copy import make_course
from workshop.rehearsal.jobs import job_environment

ROOT = Path(__file__).parents[3]
TIMEOUT_S = 900
SMALL = ("-p", "num_samples", "100", "-p", "num_epochs", "7")


def coursekit(course, environ, *words):
    """Run the command in a course folder and return how it ended."""
    return subprocess.run(
        [sys.executable, "-m", "coursekit", *words],
        cwd=course,
        env=environ,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


@pytest.mark.needs("slurmctld")
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_solutions_run_in_a_job_and_leave_the_usual_report(tmp_path):
    """Followed to its end, with the parameters asked for, and the job's nodes and number in the report."""
    with Cluster(load_site(ROOT, "karolina")) as cluster:
        course = make_course(ROOT, tmp_path / "course")
        environ = job_environment(cluster, tmp_path / "home")
        environ.pop("COURSEKIT_LABS")
        script = ["sbatch", "slurm/jobs/karolina/solutions.sbatch", "01", "--ranks", "2", *SMALL]
        subprocess.run(script, cwd=course, env=environ, check=True, capture_output=True)
        done = coursekit(course, environ, "jobs", "1", "--follow")
        nodes = cluster.nodes[cluster.site.default_partition]

    assert done.returncode == 0, done.stdout + done.stderr
    assert "lab 1/1 01-sgd: cell" in done.stdout
    report = json.loads((course / "build" / "runs" / "latest" / "report.json").read_text())
    (lab,) = report["labs"]
    assert (lab["lab"], lab["verdict"], lab["points"]) == ("01-sgd", "passed", 20)
    assert lab["parameters"] == {"num_epochs": 7, "num_samples": 100}
    assert (report["facts"]["job_id"], report["facts"]["nodes"]) == ("1", f"{nodes[0][:-1]}[1-2]")
    assert "build/runs/1/report.html" in done.stdout


def test_a_notebook_is_executed_as_it_is_and_left_ready_to_hand_in(tmp_path):
    """As Kaggle or an old editor saves it, without metadata of cells and with a byte order mark, it counts in full.

    Not solved yet, each cell has its error, and the last line tells tests from others; the file stays as it was.
    """
    course = make_course(ROOT, tmp_path / "course", cut="none")
    mine = course / "labs" / "01-sgd" / "01-sgd.ipynb"
    notebook = json.loads(mine.read_bytes())
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    before = b"\xef\xbb\xbf" + json.dumps(notebook).encode()
    mine.write_bytes(before)

    solved = coursekit(course, {**os.environ}, "execute", "01", "-p", "num_epochs", "7")
    mine.write_bytes((ROOT / "labs" / "01-sgd" / "01-sgd.ipynb").read_bytes())
    unsolved = coursekit(course, {**os.environ}, "execute", "01")

    first, second = sorted((course / "jobs").iterdir())
    assert solved.returncode == 0, solved.stdout + solved.stderr
    assert solved.stdout.splitlines()[-1].endswith(f"The executed notebook is jobs/{first.name}/01-sgd.ipynb.")
    assert "20 / 20 points" in solved.stdout
    handed_in = nbformat.read(first / "01-sgd.ipynb", as_version=4)
    cells = [(cell["id"], "".join(cell["source"])) for cell in notebook["cells"]]
    assert [(cell.id, cell.source) for cell in handed_in.cells] == cells
    assert all(cell.outputs for cell in handed_in.cells if "picture" in cell.metadata.get("tags", []))
    assert (unsolved.returncode, json.loads((second / "result.json").read_text())["verdict"]) == (1, "failed")
    *_, test, _, last = unsolved.stdout.splitlines()
    assert test.endswith("CheckError: largest stable rate: not answered yet (hessian) [answer.empty] → section 7")
    assert "0 / 20 points; not passed: loss-tests, " in last
    assert "; errors in cell 6 (surface), cell 11 (descent), " in last
    assert mine.read_bytes() == (ROOT / "labs" / "01-sgd" / "01-sgd.ipynb").read_bytes()


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course folder in which nothing runs."""
    return make_course(ROOT, tmp_path_factory.mktemp("refusals") / "course")


def test_a_notebook_that_is_missing_or_damaged_is_refused(course):
    """One sentence names the file, before anything runs, and leaves no folder."""
    mine = course / "labs" / "01-sgd" / "01-sgd.ipynb"

    mine.write_text('{"cells": [')
    damaged = coursekit(course, {**os.environ}, "execute", "01")
    mine.unlink()
    missing = coursekit(course, {**os.environ}, "execute", "01")

    for done, code in ((damaged, "notebook.damaged"), (missing, "notebook.unreadable")):
        assert (done.returncode, str(mine) in done.stderr, codes_in(done.stderr)) == (1, True, [code])
    assert not (course / "jobs").exists()
