"""Labs that do not come back by themselves."""

from __future__ import annotations

import sys

import nbformat
import pytest

from coursekit.processes import marked_processes
from coursekit.ranks import deadline
from coursekit.running import engine
from coursekit.running.execute import execute_lab
from coursekit.running.facts import Facts
from coursekit.running.plan import LabRun

FACTS = Facts(host="host", device="device", num_cpus=1, versions={}, commit=None, dirty=False)
STUBBORN = """\
while True:
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        print("no")
"""


def execute(folder, *sources, time_limit_s=60.0, kernel="python3"):
    """Execute a notebook whose last cell is a test of 2 points."""
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{number}") for number, source in enumerate(sources, start=1)]
    cells[-1].metadata["nbgrader"] = {
        "grade": True,
        "grade_id": "last-tests",
        "locked": True,
        "points": 2,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }
    kernelspec = {"name": kernel, "display_name": "Python 3", "language": "python"}
    source = folder / "source" / "lab.ipynb"
    source.parent.mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernelspec}), source)
    run = LabRun("lab", "Lab", source, {}, 1, time_limit_s, {})
    seen = []
    result = execute_lab(run, folder / "work", FACTS, lambda *cell: seen.append(cell))
    assert marked_processes(folder) == set()
    return result, seen


def test_a_lab_over_its_time_is_interrupted_where_it_waits(tmp_path):
    """The traceback shows the line that took too long, and the lab is failed for its time, not for an error."""
    result, seen = execute(tmp_path, "import time", "time.sleep(600)", "pass", time_limit_s=0.5)
    assert (result.verdict, result.points, result.max_points) == ("failed", 0, 2)
    assert result.reason == "took longer than its 0.5 s (time_limit_min in lab.toml), stopped in cell 2 (cell-2)"
    assert "----> 1 time.sleep(600)" in result.failed_cell.error
    assert result.failed_cell.error.splitlines()[-1].startswith("KeyboardInterrupt")
    assert seen == [(1, 3, "cell-1"), (2, 3, "cell-2")]
    assert result.time_s < 20


def test_a_lab_that_ignores_the_interrupt_is_killed(tmp_path, monkeypatch):
    """A test cell that was cut off earns nothing, although it shows no error; what it printed is kept."""
    monkeypatch.setattr(engine, "INTERRUPT_GRACE_S", 0.5)
    result, _ = execute(tmp_path, "import time", STUBBORN, time_limit_s=0.5)
    assert (result.verdict, result.points, result.max_points) == ("failed", 0, 2)
    assert "took longer" in result.reason
    assert result.failed_cell.error == "no"
    assert result.scores[0].message == "NotFinished: this cell ended without an answer from the kernel"


def test_a_machine_that_gives_no_time_is_no_failure(tmp_path, monkeypatch):
    """When the last resort on the wall has passed, the lab needs another run, and has not failed."""
    monkeypatch.setattr(deadline, "longest_wall_s", lambda _: 5.0)
    result, _ = execute(tmp_path, "import time", "time.sleep(600)", "pass", time_limit_s=60)
    assert result.verdict == "interrupted"
    assert result.reason == (
        "needs another run: the machine was too slow or too busy: in 5 s what ran had less than 60 s for itself; "
        "stopped in cell 2 (cell-2)"
    )


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import os; os.kill(os.getpid(), 9)", "the kernel died in cell 1 (cell-1)"),
        ("raise SystemExit", "stopped by an error in cell 1 (cell-1)"),
    ],
    ids=["killed", "exit"],
)
def test_a_kernel_that_ends_early_is_a_failure(tmp_path, source, reason):
    """To papermill, SystemExit is a happy end, and later cells would then count as passed."""
    result, _ = execute(tmp_path, source, "pass")
    assert (result.verdict, result.reason, result.points) == ("failed", reason, 0)
    assert result.failed_cell.source == source


def test_a_notebook_of_another_kernel_runs_on_this_python(tmp_path):
    """What a student wrote on a hub's own kernel is executed beside this Python, where that kernel is not known."""
    result, _ = execute(tmp_path, "import sys", f"assert sys.prefix == {sys.prefix!r}", kernel="coursekit-karolina")
    assert (result.verdict, result.reason, result.points) == ("passed", "", 2)
