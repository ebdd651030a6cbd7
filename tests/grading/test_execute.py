"""Executing a notebook: nothing in a cell can stop it, outlast it or stay behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from types import SimpleNamespace

import psutil
import pytest
from nbformat import v4

from coursekit.errors import CourseKitError
from coursekit.grading import kernels
from coursekit.grading.execute import execute

# The child writes its own id once it is in a session of its own and ready to be killed.
ORPHAN = """
import subprocess, sys, pathlib, time
program = "import os, pathlib, time; pathlib.Path('orphan').write_text(str(os.getpid())); time.sleep(600)"
subprocess.Popen([sys.executable, "-c", program], start_new_session=True)
while not (pathlib.Path("orphan").exists() and pathlib.Path("orphan").read_text()):
    time.sleep(0.01)
"""


def notebook_of(*sources):
    """Return a notebook with one code cell per source."""
    notebook = v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    for number, source in enumerate(sources):
        notebook.cells.append(v4.new_code_cell(source, id=f"cell-{number}"))
    return notebook


def errors_of(notebook):
    """Return per cell the name and value of its first output if that is an error, else None."""
    firsts = [cell.outputs[0] if cell.outputs else None for cell in notebook.cells]
    return [
        (first.ename, first.evalue) if first is not None and first.output_type == "error" else None for first in firsts
    ]


def is_running(process_id):
    """Return whether a process runs, not counting one that waits to be reaped."""
    try:
        return psutil.Process(process_id).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory):
    """One run of a notebook that shows what an ordinary run does: the notebook, the folder, what became of it."""
    temporary = tmp_path_factory.mktemp("temporary")
    startup = tmp_path_factory.mktemp("ipython") / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00-first.py").write_text("answer = 42\n")
    notebook = notebook_of(
        "import os; print(os.getcwd())",
        "1 / 0",
        "print('after')",
        "x = 1",
        " ",
        "print(x)",
        "print('answer' in globals())",
        "get_ipython().showtraceback = lambda *args, **kwargs: None",
        "assert False, 'wrong'",
    )
    folder = tmp_path_factory.mktemp("work")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(startup.parents[1]))
        patch.setattr(kernels.tempfile, "tempdir", str(temporary))
        executed = asyncio.run(execute(notebook, folder, 60))
    return SimpleNamespace(notebook=notebook, folder=folder, temporary=temporary, executed=executed)


def printed(cell):
    """Return the text that a cell printed first."""
    return cell.outputs[0].text


def test_cells_run_in_order_in_the_folder_given(ordinary):
    """Outputs are in the copy that is returned; the notebook handed in stays as it was."""
    assert printed(ordinary.executed.cells[0]) == f"{ordinary.folder}\n"
    assert [cell.outputs for cell in ordinary.notebook.cells] == [[]] * 9


def test_errors_do_not_stop_the_notebook(ordinary):
    """An error is an output like others, and the next cell runs."""
    assert errors_of(ordinary.executed)[:3] == [None, ("ZeroDivisionError", "division by zero"), None]
    assert printed(ordinary.executed.cells[2]) == "after\n"


def test_an_empty_cell_is_not_run(ordinary):
    """It gets no number, as in Jupyter."""
    assert ordinary.executed.cells[4].execution_count is None
    assert printed(ordinary.executed.cells[5]) == "1\n"


def test_start_up_files_of_the_user_play_no_part(ordinary):
    """An IPython profile of the person who grades cannot change what a cell does."""
    assert printed(ordinary.executed.cells[6]) == "False\n"


def test_an_error_that_was_not_printed_is_recorded(ordinary):
    """Silencing IPython's traceback does not make a failing cell a passing one."""
    assert errors_of(ordinary.executed)[7:] == [None, ("AssertionError", "wrong")]


def test_no_socket_or_folder_is_left(ordinary):
    """The folder with the kernel's sockets is removed."""
    assert list(ordinary.temporary.iterdir()) == []


def test_a_slow_cell_is_interrupted_and_the_next_one_runs(tmp_path):
    """The limit of one cell costs that cell only."""
    notebook = notebook_of("x = 1", "import time; time.sleep(60)", "print(x)")

    executed = asyncio.run(execute(notebook, tmp_path, 60, cell_timeout_s=1))

    assert errors_of(executed) == [None, ("CellTimeoutError", "the cell was stopped after 1 s"), None]
    assert executed.cells[2].outputs[0].text == "1\n"


def test_the_limit_of_the_notebook_ends_it(tmp_path):
    """When the whole time is used, the cells that are left say that they never ran."""
    notebook = notebook_of("import time; time.sleep(60)", "print('never')")

    started = time.monotonic()
    executed = asyncio.run(execute(notebook, tmp_path, 1))

    assert errors_of(executed) == [
        ("CellTimeoutError", "the cell was stopped after 1 s"),
        ("NotRun", "the notebook had used its 1 s"),
    ]
    assert time.monotonic() - started < 45


def test_a_cell_that_refuses_to_stop_costs_its_kernel_only(tmp_path, monkeypatch):
    """A loop that swallows interrupts ends with the kernel, after the grace, and nothing after it counts."""
    monkeypatch.setattr("coursekit.grading.execute.INTERRUPT_GRACE_S", 1.0)
    stubborn = "import time\nwhile True:\n    try:\n        time.sleep(60)\n    except KeyboardInterrupt:\n        pass"
    notebook = notebook_of(stubborn, "print('never')")

    executed = asyncio.run(execute(notebook, tmp_path, 60, cell_timeout_s=1))

    assert errors_of(executed) == [
        ("CellTimeoutError", "the cell was stopped after 1 s"),
        ("NotRun", "an earlier cell could not be interrupted"),
    ]


def test_a_dead_kernel_fails_its_cell_and_all_after_it(tmp_path):
    """Leaving the kernel on purpose earns nothing in the cells that follow."""
    notebook = notebook_of("x = 1", "import os; os._exit(0)", "print(x)")

    executed = asyncio.run(execute(notebook, tmp_path, 60))

    assert errors_of(executed) == [
        None,
        ("DeadKernelError", "the kernel died in this cell"),
        ("NotRun", "the kernel died in an earlier cell"),
    ]


@pytest.mark.parametrize("end", ["", "import os; os._exit(0)"], ids=["kernel-ends", "kernel-dies"])
def test_processes_in_sessions_of_their_own_end_with_the_kernel(tmp_path, end):
    """What a cell leaves running is gone afterwards, also when its kernel died before it."""
    asyncio.run(execute(notebook_of(ORPHAN, end), tmp_path, 60))

    assert not is_running(int((tmp_path / "orphan").read_text()))


def test_ranks_end_with_a_kernel_that_dies(tmp_path):
    """The fork server of the ranks, which outlives each run on purpose, does not outlive its kernel."""
    start = """
        import os, psutil
        from pathlib import Path
        from coursekit import ranks
        print(ranks.run(os.getpid, num_ranks=2) != [])
        Path("pids").write_text(" ".join(str(child.pid) for child in psutil.Process().children(recursive=True)))
    """

    executed = asyncio.run(execute(notebook_of(textwrap.dedent(start), "os._exit(0)"), tmp_path, 120))

    assert executed.cells[0].outputs[0].text == "True\n"
    process_ids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    assert len(process_ids) >= 1
    assert not [process_id for process_id in process_ids if is_running(process_id)]


def test_an_unknown_kernel_is_named(tmp_path):
    """A notebook for a kernel that is not installed is refused in one sentence."""
    notebook = notebook_of("1")
    notebook.metadata.kernelspec.name = "no-such-kernel"

    with pytest.raises(CourseKitError, match="there is no kernel named 'no-such-kernel'"):
        asyncio.run(execute(notebook, tmp_path, 60))


def test_control_c_leaves_no_process(tmp_path):
    """An interrupted run ends its kernel and all that the kernel started."""
    program = textwrap.dedent(
        f"""
        import asyncio
        import sys
        from pathlib import Path
        from nbformat import v4
        from coursekit.grading.execute import execute
        notebook = v4.new_notebook(cells=[v4.new_code_cell({ORPHAN!r} + "\\ntime.sleep(600)")])
        asyncio.run(execute(notebook, Path({str(tmp_path)!r}), 600))
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, start_new_session=True)
    orphan = tmp_path / "orphan"
    deadline = time.monotonic() + 60
    while not (orphan.exists() and orphan.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    children = psutil.Process(process.pid).children(recursive=True)

    os.kill(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=120)

    assert b"KeyboardInterrupt" in stderr
    assert len(children) >= 2
    assert not [child for child in children if is_running(child.pid)]
