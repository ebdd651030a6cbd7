"""Execute one lab: papermill does the work, we decide the verdict, and nothing that was started outlives it.

Where papermill takes an engine, ours tells what happens in a kernel, and ends a kernel that takes too long.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
import papermill
from jupyter_client.kernelspec import NATIVE_KERNEL_NAME, NoSuchKernel
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError
from papermill.execute import remove_error_markers

from coursekit.files import write_text
from coursekit.labs.cells import COLOURS, CellScore, cell_name, stopping_at_errors
from coursekit.labs.points import score
from coursekit.labs.run import results
from coursekit.labs.run.plan import LabRun
from coursekit.labs.run.results import Facts, FailedCell, LabResult, format_time
from coursekit.labs.run.watch import KERNEL_LOG, KernelWatch
from coursekit.pictures.output import SPEED
from coursekit.processes import end_all, end_marked
from coursekit.ranks.environ import kernel_environment
from coursekit.ranks.explain import MachineTooSlowError
from coursekit.ranks.own_time import longest_wall_s

ENGINE = "coursekit"
START_TIMEOUT_S = int(longest_wall_s(20))  # Jupyter knows wall-clock time only

NUM_TRACEBACK_LINES = 15
NO_ANSWER = "Kernel didn't respond in"  # jupyter_client's words where a kernel lives and was not ready in time
NOT_FINISHED = "NotFinished: this cell ended without an answer from the kernel"

# The words of nbclient and papermill about a failing kernel would spoil the progress display; the result has them.
silent = logging.getLogger("coursekit.kernel")
silent.addHandler(logging.NullHandler())
silent.propagate = False
# Ctrl-C can leave a coroutine of nbclient's behind, which those who pressed it need not hear of.
warnings.filterwarnings("ignore", r"coroutine 'NotebookClient\.", RuntimeWarning)


class LabEngine(NBClientEngine):  # type: ignore[misc] # papermill has no types
    """papermill's own engine with our working folder, environment and hooks."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **options: Any) -> None:
        """Execute the notebook of papermill's manager, which saves it after every cell; `watch` is our own option."""
        watch: KernelWatch = options["watch"]
        with (
            # Sockets in a private folder: no port that others on a login node could reach, and a path of less than the
            # 107 bytes that a socket's may have, whatever TMPDIR says.
            tempfile.TemporaryDirectory(prefix="kernel-", dir="/tmp") as sockets,
            (watch.folder / KERNEL_LOG).open("wb") as log,
        ):
            connection_file = str(Path(sockets, "kernel.json"))
            manager = AsyncKernelManager(kernel_name=kernel_name, transport="ipc", connection_file=connection_file)
            client = PapermillNotebookClient(
                nb_man,
                km=manager,
                startup_timeout=START_TIMEOUT_S,
                iopub_timeout=START_TIMEOUT_S,  # else output that comes 4 s after the answer is lost
                log=silent,
                # Jupyter's interface for kernels elsewhere knows no process id; the local one, which we start, has it.
                on_notebook_start=lambda notebook: watch.kernel_started(int(manager.provisioner.pid), notebook),  # type: ignore[union-attr]
                on_cell_execute=watch.cell_started,
                on_cell_executed=watch.cell_finished,
                on_cell_error=watch.cell_failed,
            )
            environment = kernel_environment(watch.folder)
            with stopping_at_errors(nb_man.nb):
                client.execute(cwd=str(watch.folder), env=environment, stdout=log, stderr=log, cleanup_kc=True)


papermill_engines.register(ENGINE, LabEngine)


def execute_lab(run: LabRun, folder: Path, facts: Facts, on_cell: Callable[[int, int, str], None]) -> LabResult:
    """Execute a lab in a folder of its own and return how it went, whatever happened.

    The folder is the kernel's working folder, in which the executed notebook is saved after every cell.
    `on_cell` is called with number, total and name of each code cell that starts.
    The verdict is "interrupted" when KeyboardInterrupt was raised, which ends here.
    """
    started, clock = datetime.now().astimezone(), time.perf_counter()
    executed = folder / run.notebook.name
    # A student has all files next to the notebook, too.
    shutil.copytree(run.notebook.parent, folder, dirs_exist_ok=True)
    watch = KernelWatch(folder, run.time_limit_s, on_cell)
    problem, interrupted = "", False
    try:
        _papermill(run, executed, watch)
    except PapermillExecutionError:
        pass  # the watch knows the cell, and whether its error is part of the lesson
    except KeyboardInterrupt:
        interrupted = True
    except DeadKernelError:
        problem = "the kernel died"
    except (RuntimeError, TimeoutError, NoSuchKernel) as error:
        problem = str(error).strip().rpartition("\n")[2]
    finally:
        end_all(watch.stop())
        end_marked(folder)
    notebook = nbformat.read(executed, as_version=4)
    if not watch.failed:  # an error that was part of the lesson is no error of papermill's
        notebook = remove_error_markers(notebook)
    write_text(executed, nbformat.writes(notebook))
    scores = _scores(notebook, watch)
    too_slow = _too_slow(notebook, watch, problem)
    verdict, reason = _verdict(run, watch, scores, problem, too_slow, interrupted=interrupted)
    return LabResult(
        lab=run.name,
        title=run.title,
        verdict=verdict,
        reason=reason,
        scores=scores,
        time_s=round(time.perf_counter() - clock, 2),
        peak_memory_mb=round(watch.peak_memory_mb, 1),
        num_ranks=run.num_ranks,
        parameters=run.parameters,
        started=started.isoformat(timespec="seconds"),
        failed_cell=_failed_cell(notebook, watch, folder) if watch.stopped_early else None,
        facts=facts,
        images_per_s=_images_per_s(notebook),
    )


def _papermill(run: LabRun, executed: Path, watch: KernelWatch) -> None:
    # papermill takes paths as patterns to fill in with parameters.
    source, target = (str(path).replace("{", "{{").replace("}", "}}") for path in (run.notebook, executed))
    papermill.execute_notebook(
        source,
        target,
        parameters=dict(run.parameters),
        engine_name=ENGINE,
        # The Python beside this one, whatever the notebook was written with: a hub's kernel (`coursekit kernel`) would
        # start a container within that of the job.
        kernel_name=NATIVE_KERNEL_NAME,
        progress_bar=False,
        request_save_on_cell_execute=True,
        watch=watch,
    )


def _scores(notebook: NotebookNode, watch: KernelWatch) -> tuple[CellScore, ...]:
    """Return the points; a test whose kernel never answered earns nothing, though it shows no error."""
    finished = {cell_name(cell) for cell in notebook.cells if cell.get("id") in watch.finished}
    return tuple(
        one if one.grade_id in finished else replace(one, points=0.0, message=one.message or NOT_FINISHED)
        for one in score(notebook)
    )


def _images_per_s(notebook: NotebookNode) -> float:
    """Return the highest speed that a cell of the lab has shown; 0 where none has."""
    shown = [output.get("data", {}).get(SPEED) for cell in notebook.cells for output in cell.get("outputs", [])]
    return max((float(speed["images_per_s"]) for speed in shown if speed), default=0.0)


def _too_slow(notebook: NotebookNode, watch: KernelWatch, problem: str) -> str:
    """Return why the machine, not the lab, is to blame for how it ended; '' when it is not."""
    errors = (output for cell in notebook.cells for output in cell.get("outputs", []) if "ename" in output)
    told = next((error.evalue for error in errors if error.ename == MachineTooSlowError.__name__), "")
    return told or (watch.too_slow if watch.stopped_early else problem if NO_ANSWER in problem else "")


def _verdict(  # noqa: PLR0913  # all that is known
    run: LabRun, watch: KernelWatch, scores: tuple[CellScore, ...], problem: str, too_slow: str, *, interrupted: bool
) -> tuple[str, str]:
    """Return the verdict and one sentence on why the lab did not pass."""
    cell = f"cell {watch.number}" + (f" ({cell_name(watch.current)})" if watch.current else "")
    lost = [one for one in scores if not one.passed]
    if interrupted or too_slow:
        why = "stopped by a signal" if interrupted else f"needs another run: {too_slow}; stopped"
        return results.INTERRUPTED, f"{why} in {cell}"
    if watch.overdue and watch.stopped_early:
        limit = format_time(run.time_limit_s)
        return results.FAILED, f"took longer than its {limit} (time_limit_min in lab.toml), stopped in {cell}"
    if problem:
        return results.FAILED, f"{problem} in {cell}" if watch.current else problem
    if watch.stopped_early:
        return results.FAILED, f"stopped by an error in {cell}"
    if lost:
        points = sum(one.max_points - one.points for one in lost)
        tests = "; ".join(f"{one.grade_id} ({one.message})" for one in lost)
        return results.FAILED, f"ran to the end but lost {points:g} points: {tests}"
    return results.PASSED, ""


def _failed_cell(notebook: NotebookNode, watch: KernelWatch, folder: Path) -> FailedCell | None:
    """Return the cell that was running last with its traceback; without one, what it and the kernel itself wrote."""
    cell = next((cell for cell in notebook.cells if watch.current and cell.get("id") == watch.current.id), None)
    if cell is None:
        return None
    error = next((output for output in cell.outputs if output.output_type == "error"), None)
    if error is not None:
        words = "\n".join(error.traceback) or f"{error.ename}: {error.evalue}"
    else:
        printed = "".join(output.text for output in cell.outputs if output.output_type == "stream")
        words = f"{printed}\n{(folder / KERNEL_LOG).read_text(encoding='utf-8', errors='replace')}"
    lines = COLOURS.sub("", words).rstrip().splitlines()[-NUM_TRACEBACK_LINES:]
    return FailedCell(watch.number, cell_name(cell), cell.source, "\n".join(lines))
