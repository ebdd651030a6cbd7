"""Execute one lab: papermill runs the cells, and this module decides the verdict and ends all processes of the run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import nbformat
import papermill
from jupyter_client.kernelspec import NATIVE_KERNEL_NAME
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError
from papermill.execute import remove_error_markers

from coursekit.files import write_text
from coursekit.labs.build.script import PARAMETERS, is_parameters
from coursekit.labs.cells import COLOURS, CellScore, cell_name, error_in
from coursekit.labs.points import score
from coursekit.labs.run import results
from coursekit.labs.run.beside import copy_beside
from coursekit.labs.run.kernel import ENGINE
from coursekit.labs.run.plan import LabRun
from coursekit.labs.run.results import Facts, FailedCell, LabResult, format_time
from coursekit.labs.run.watch import KERNEL_LOG, KernelWatch
from coursekit.labs.students_notebook import read_notebook
from coursekit.pictures.output import SPEED
from coursekit.processes import end_all, end_marked
from coursekit.ranks.explain import MachineTooSlowError
from coursekit.text import first_few

NUM_TRACEBACK_LINES = 15
MAX_CHARACTERS = 1000  # of a one-line error: its message may contain an array
NO_ANSWER = "Kernel didn't respond in"  # jupyter_client's message if a kernel is alive, but was not ready in time
DIED = "Kernel died"  # the message of jupyter_client and nbclient if the kernel has ended
NOT_FINISHED = "NotFinished: this cell ended without an answer from the kernel"


def execute_lab(run: LabRun, folder: Path, facts: Facts, on_cell: Callable[[int, int, str], None]) -> LabResult:
    """Execute a lab in a separate folder, and return its result even if it fails or is interrupted.

    The folder is the kernel's working folder, and the executed notebook is saved there after every cell.
    When a code cell starts, `on_cell` is called with the cell's number, the number of code cells, and the cell's name.
    A KeyboardInterrupt is caught here, and the verdict is then "interrupted".
    """
    started, clock = datetime.now().astimezone(), time.perf_counter()
    executed = folder / run.notebook.name
    left_out = copy_beside(run.notebook, folder)
    _prepare(run, executed)
    watch = KernelWatch(folder, run.time_limit_s, on_cell, run.goes_on)
    problem, interrupted = "", False
    try:
        _papermill(run, executed, watch)
    except PapermillExecutionError:
        pass  # the watch has recorded the cells, and knows which errors are part of the lesson
    except KeyboardInterrupt:
        interrupted = True
    except (RuntimeError, TimeoutError) as error:
        said = str(error).strip().rpartition("\n")[2]
        problem = "the kernel died" if said.startswith(DIED) else said
    finally:
        end_all(watch.stop())
        end_marked(folder)
    notebook = nbformat.read(executed, as_version=4)
    if not watch.failed:  # papermill also marks errors that are part of the lesson or did not stop the run
        notebook = remove_error_markers(notebook)
    write_text(executed, nbformat.writes(notebook))
    result = LabResult(
        lab=run.name,
        title=run.title,
        verdict=results.PASSED,
        reason="",
        scores=_scores(notebook, watch),
        time_s=round(time.perf_counter() - clock, 2),
        peak_memory_mb=round(watch.peak_memory_mb, 1),
        num_ranks=run.num_ranks,
        parameters=run.parameters,
        started=started.isoformat(timespec="seconds"),
        failed_cell=_failed_cell(notebook, watch, folder) if problem or watch.stopped_early else None,
        raised=tuple(_raised(number, cell) for number, cell in watch.raised),
        facts=facts,
        images_per_s=_images_per_s(notebook),
        left_out=left_out,
    )
    too_slow = _too_slow(notebook, watch, problem)
    verdict, reason = _verdict(run, watch, result, problem, too_slow, interrupted=interrupted)
    return replace(result, verdict=verdict, reason=reason)


def _prepare(run: LabRun, executed: Path) -> None:
    """Write the notebook that will be executed, with all cell metadata that programs need."""
    notebook = nbformat.from_dict(read_notebook(run.notebook, run.name))
    for cell in list(filter(is_parameters, notebook.cells))[:-1]:
        cell.metadata.tags.remove(PARAMETERS)  # of a split cell, papermill would insert values after the first part
    write_text(executed, nbformat.writes(notebook))


def _papermill(run: LabRun, executed: Path, watch: KernelWatch) -> None:
    # papermill formats paths with the parameters, so braces are doubled.
    place = str(executed).replace("{", "{{").replace("}", "}}")
    papermill.execute_notebook(
        place,
        place,
        parameters=dict(run.parameters),
        engine_name=ENGINE,
        kernel_name=NATIVE_KERNEL_NAME,  # whatever kernel the notebook names, if any
        language="python",
        progress_bar=False,
        request_save_on_cell_execute=True,
        watch=watch,
    )


def _scores(notebook: NotebookNode, watch: KernelWatch) -> tuple[CellScore, ...]:
    """Return the scores; a test that the kernel did not finish earns nothing, although it shows no error."""
    finished = {cell_name(cell) for cell in notebook.cells if cell.get("id") in watch.finished}
    return tuple(
        one if one.grade_id in finished else replace(one, points=0.0, message=one.message or NOT_FINISHED)
        for one in score(notebook)
    )


def _images_per_s(notebook: NotebookNode) -> float:
    """Return the highest speed that any cell of the lab has shown; 0 if no cell has shown a speed."""
    shown = [output.get("data", {}).get(SPEED) for cell in notebook.cells for output in cell.get("outputs", [])]
    return max((float(speed["images_per_s"]) for speed in shown if speed), default=0.0)


def _too_slow(notebook: NotebookNode, watch: KernelWatch, problem: str) -> str:
    """Return a reason if the run ended because the machine was too slow, and not because of the lab; otherwise ''."""
    errors = (output for cell in notebook.cells for output in cell.get("outputs", []) if "ename" in output)
    message = next((error.evalue for error in errors if error.ename == MachineTooSlowError.__name__), "")
    return message or (watch.too_slow if watch.stopped_early else problem if NO_ANSWER in problem else "")


def _verdict(  # noqa: PLR0913  # everything known
    run: LabRun, watch: KernelWatch, result: LabResult, problem: str, too_slow: str, *, interrupted: bool
) -> tuple[str, str]:
    """Return the verdict, and a sentence that says why the lab did not pass ('' if it passed)."""
    where = f"in cell {watch.number} ({cell_name(watch.current)})" if watch.current else "at its start"
    if interrupted or too_slow:
        slow = f"needs another run: {too_slow}; stopped {where} [lab.machine-too-slow]"
        return results.INTERRUPTED, f"stopped by a signal {where} [lab.interrupted]" if interrupted else slow
    if watch.overdue and watch.stopped_early:
        limit = format_time(run.time_limit_s)
        words = f"exceeded its time limit of {limit} (time_limit_min in lab.toml), stopped {where} [lab.overtime]"
        return results.FAILED, words
    if problem:
        return results.FAILED, f"{problem} {where} [lab.kernel-died]"
    if watch.stopped_early:
        return results.FAILED, f"stopped by an error {where} [lab.error]"
    faults = [f"raised errors in {first_few(result.broken)}"] if result.broken else []
    if result.lost:
        points = sum(one.max_points - one.points for one in result.lost)
        tests = "; ".join(f"{one.grade_id} ({one.message})" for one in result.lost)
        faults.append(f"lost {points:g} points: {tests}")
    code = "lab.points-lost" if result.lost else "lab.raised-errors"
    return (results.FAILED, f"ran to the end but {' and '.join(faults)} [{code}]") if faults else (results.PASSED, "")


def _raised(number: int, cell: NotebookNode) -> FailedCell:
    return FailedCell(number, cell_name(cell), cell.source, error_in(cell).partition("\n")[0][:MAX_CHARACTERS])


def _failed_cell(notebook: NotebookNode, watch: KernelWatch, folder: Path) -> FailedCell:
    """Return the cell that ran last, with its traceback; if it has none, with the output of the cell and the kernel."""
    cell = next((cell for cell in notebook.cells if watch.current and cell.get("id") == watch.current.id), None)
    outputs = cell.outputs if cell else []
    error = next((output for output in outputs if output.output_type == "error"), None)
    if error is not None:
        words = "\n".join(error.traceback) or f"{error.ename}: {error.evalue}"
    else:
        printed = "".join(output.text for output in outputs if output.output_type == "stream")
        words = f"{printed}\n{(folder / KERNEL_LOG).read_text(encoding='utf-8', errors='replace')}"
    lines = COLOURS.sub("", words).strip("\n").rstrip().splitlines()[-NUM_TRACEBACK_LINES:]
    name, source = (cell_name(cell), cell.source) if cell else ("start of the kernel", "")
    return FailedCell(watch.number, name, source, "\n".join(lines))
