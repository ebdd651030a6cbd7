"""Labs that do not come back by themselves."""

import sys

import nbformat
import pytest

from coursekit import corrected_time
from coursekit.corrected_time import longest_wall_s
from coursekit.errors import codes_in
from coursekit.files import write_json
from coursekit.labs.run import watch
from coursekit.labs.run.execute import execute_lab
from coursekit.labs.run.plan import LabRun

from .conftest import FACTS

STUBBORN = """\
while True:
    try:
        time.sleep(3600)
    except KeyboardInterrupt:
        print("no")
"""


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_lab_over_its_time_is_interrupted_where_it_waits(execute_sources, tmp_path, goes_on):
    """The traceback shows the line that took too long, and the lab is failed for its time, not for an error."""
    words = ("import time", "time.sleep(3600)", "pass")
    result, seen = execute_sources(tmp_path, *words, time_limit_s=1, goes_on=goes_on)
    assert (result.verdict, result.points, result.max_points) == ("failed", 0, 2)
    assert (codes_in(result.reason), "in cell 2 (cell-2)" in result.reason) == (["lab.overtime"], True)
    assert "----> 1 time.sleep(3600)" in result.failed_cell.error
    assert result.failed_cell.error.splitlines()[-1].startswith("KeyboardInterrupt")
    assert seen == [(1, 3, "cell-1"), (2, 3, "cell-2")]
    assert result.time_s < 3600


def test_a_lab_that_ignores_the_interrupt_is_killed(execute_sources, tmp_path, monkeypatch):
    """A test cell that was cut off earns nothing, although it shows no error; what it printed is kept."""
    monkeypatch.setattr(watch, "INTERRUPT_GRACE_S", 0.5)
    result, _ = execute_sources(tmp_path, "import time", STUBBORN, time_limit_s=1)
    assert (result.verdict, result.points, result.max_points) == ("failed", 0, 2)
    assert codes_in(result.reason) == ["lab.overtime"]
    assert result.failed_cell.error == "no"
    assert result.scores[0].message.startswith("NotFinished: ")


def test_a_machine_that_gives_no_time_is_no_failure(execute_sources, tmp_path, monkeypatch):
    """When the last resort in wall-clock time has passed, the lab needs another run, and has not failed."""
    # Of the lab alone: its interrupted kernel has the usual time to say where it was.
    monkeypatch.setattr(
        corrected_time, "longest_wall_s", lambda limit_s: 1.0 if limit_s == 60 else longest_wall_s(limit_s)
    )
    result, _ = execute_sources(tmp_path, "import time; time.sleep(3600)", "pass", time_limit_s=60)
    assert result.verdict == "interrupted"
    assert codes_in(result.reason)[-1] == "lab.machine-too-slow"
    assert "cell 1 (cell-1)" in result.reason


@pytest.mark.parametrize("goes_on", [False, True])
def test_ranks_that_got_no_time_are_no_failure(execute_sources, tmp_path, goes_on):
    """What `ranks.run` says on such a machine is not a lost point: the lab needs another run."""
    words = "from coursekit.ranks import MachineTooSlowError\nraise MachineTooSlowError('too busy')"
    result, _ = execute_sources(tmp_path, "pass", words, goes_on=goes_on)
    assert (result.verdict, codes_in(result.reason)) == ("interrupted", ["lab.machine-too-slow"])


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("import os; os.kill(os.getpid(), 9)", "lab.kernel-died"),
        ("raise SystemExit", "lab.error"),
    ],
    ids=["killed", "exit"],
)
def test_a_kernel_that_ends_early_is_a_failure(execute_sources, tmp_path, source, code):
    """To papermill, SystemExit is a happy end, and later cells would then count as passed."""
    result, _ = execute_sources(tmp_path, source, "pass")
    assert (result.verdict, codes_in(result.reason), result.points) == ("failed", [code], 0)
    assert result.failed_cell.source.startswith(source)


def test_a_kernel_that_dies_at_its_start_is_a_failure(execute_sources, tmp_path, monkeypatch):
    """No cell has run, and what the kernel wrote is the error, such as of a package that shadows another one."""
    (tmp_path / "ipykernel_launcher.py").write_text("raise ImportError('of another Python')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    result, seen = execute_sources(tmp_path, "pass")
    assert (result.verdict, codes_in(result.reason), result.points, seen) == ("failed", ["lab.kernel-died"], 0, [])
    assert (result.failed_cell.number, result.failed_cell.source) == (0, "")
    assert result.failed_cell.error.endswith("\nImportError: of another Python")


def test_a_notebook_of_another_kernel_runs_on_this_python(execute_sources, tmp_path, monkeypatch):
    """Neither a hub's own kernel nor a `python3` that stands first on Jupyter's path is started."""
    (tmp_path / "kernels" / "python3").mkdir(parents=True)
    spec = {"argv": ["false", "{connection_file}"], "display_name": "Python 3", "language": "python"}
    write_json(tmp_path / "kernels" / "python3" / "kernel.json", spec)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    result, _ = execute_sources(
        tmp_path, "import sys", f"assert sys.prefix == {sys.prefix!r}", kernel="coursekit-karolina"
    )
    assert (result.verdict, result.reason, result.points) == ("passed", "", 2)


def test_a_students_notebook_goes_on_past_errors(execute_sources, tmp_path):
    """Each error stays in its cell; those of tests and checks are points, all others are told apart."""
    check = "from coursekit.checks import check, require\nwith check('sum', section='2'):\n    require(False, 'no sum')"
    sources = ["1 /", "raise SystemExit", check, "number = 1", "assert number == 2"]
    result, seen = execute_sources(tmp_path, *sources, goes_on=True)
    assert (result.verdict, result.ran_to_its_end, result.points) == ("failed", True, 0)
    kinds = [(1, "SyntaxError"), (2, "SystemExit"), (3, "CheckError"), (5, "AssertionError")]
    assert [(cell.number, cell.error.partition(":")[0]) for cell in result.raised] == kinds
    assert result.broken == ("cell 1 (cell-1)", "cell 2 (cell-2)")
    assert codes_in(result.reason) == ["lab.points-lost"]
    assert all(each in result.reason for each in (*result.broken, " 2 points: last-tests (AssertionError)"))
    assert len(seen) == len(sources)
    executed = nbformat.read(tmp_path / "work" / "lab.ipynb", as_version=4)
    errors = [output.ename for cell in executed.cells for output in cell.outputs if output.output_type == "error"]
    assert (len(executed.cells), errors) == (len(sources), [kind for _, kind in kinds])


def test_values_given_come_after_all_parts_of_a_split_parameters_cell(tmp_path):
    """JupyterLab gives both parts the tag, and either may hold the parameter."""
    cells = [nbformat.v4.new_code_cell(text) for text in ("rate = 1", "number = 1", "assert (rate, number) == (2, 2)")]
    for cell in cells[:2]:
        cell.metadata.tags = ["parameters"]
    notebook = tmp_path / "mine" / "lab.ipynb"
    notebook.parent.mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=cells), notebook)
    run = LabRun("lab", "Lab", notebook, {"number": 2, "rate": 2}, 1, 60)
    assert execute_lab(run, tmp_path / "work", FACTS, lambda *_: None).verdict == "passed"
