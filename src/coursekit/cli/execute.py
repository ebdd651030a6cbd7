"""`coursekit execute`: run a student's notebook, in a job or on a laptop, and save the executed copy for handing in."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import click
import nbformat
from nbformat import NotebookNode
from rich.console import Console

from coursekit.cli.shared import LAB, PARAMETERS, RANKS
from coursekit.files import write_json, write_text
from coursekit.labs.cells import INJECTED
from coursekit.labs.lab import select_labs
from coursekit.labs.needs import runnable
from coursekit.labs.run.execute import execute_lab
from coursekit.labs.run.jobs_folder import JOBS_FOLDER, RESULT, new_folder
from coursekit.labs.run.plan import plan_runs
from coursekit.labs.run.results import LabResult, format_points, format_time, gather_facts
from coursekit.labs.run.session import RunProgress
from coursekit.paths import find_root
from coursekit.processes import StopSignals, end_marked
from coursekit.text import first_few


@click.command(epilog="Example: coursekit execute 02 --ranks 4")
@LAB
@RANKS
@PARAMETERS
def execute(lab: str, num_ranks: int | None, given: tuple[tuple[str, str], ...]) -> None:
    """Execute your notebook for LAB from start to end, continuing after errors.

    Your notebook in labs/ is not changed. The executed copy, ready to hand in, goes into a new folder in jobs/.
    The folder is named after the lab and the time; in a Slurm job, after the lab and the number of the job.
    Files and folders next to your notebook are also copied into it, up to 1 GB each; links to folders stay links.
    Inside a Slurm job, the ranks run as tasks of that job.
    Exit status: 0 if all cells ran, and any errors came only from tests; else 1. Points do not affect it.
    """
    root = find_root()
    (asked,) = runnable(select_labs(root, [lab]), [lab], click.echo)
    chosen = replace(asked, small_run={})
    notebook = root / "labs" / chosen.name / f"{chosen.name}.ipynb"
    run = replace(plan_runs([chosen], {chosen.name: notebook}, num_ranks, dict(given))[0], goes_on=True)
    folder = new_folder(root / JOBS_FOLDER, f"{chosen.name}-")
    stop, progress = StopSignals(), RunProgress(Console())
    with stop.handled(), progress.line:
        progress.lab_started(run, 1, 1)
        result = execute_lab(run, folder, gather_facts(root), progress.cell_started)
        end_marked(folder)
    write_json(folder / RESULT, result.to_json())
    executed = folder / notebook.name
    write_text(executed, nbformat.writes(ready_to_hand_in(nbformat.read(executed, as_version=4))) + "\n")
    if result.left_out:
        print(f"Not copied from {notebook.parent.relative_to(root)}/: {first_few(result.left_out)}")
    for cell in result.raised:
        print(f"{cell.place}: {cell.error}")
    if result.failed_cell and result.failed_cell.error:
        print(result.failed_cell.error)
    print(_last_line(result, executed.relative_to(root)), flush=True)
    sys.exit(0 if result.ran_to_its_end and not result.broken else 1)


def ready_to_hand_in(notebook: NotebookNode) -> NotebookNode:
    """Return an executed notebook without papermill's cell and metadata.

    That cell sets the number of ranks, and a grader may use another number.
    """
    notebook.cells = [cell for cell in notebook.cells if INJECTED not in cell.metadata.get("tags", [])]
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
    return notebook


def _last_line(result: LabResult, executed: Path) -> str:
    """Return one line that says in plain words how the run went."""
    ranks = f" with {result.num_ranks} ranks" if result.num_ranks > 1 else ""
    nodes = os.environ.get("SLURM_JOB_NODELIST", "")
    took = format_time(result.time_s) + ranks + (f" on {nodes}" if nodes else "")
    if result.ran_to_its_end:
        points = f", {format_points(result)} points" if result.scores else ""
        lost = f"; not passed: {', '.join(score.grade_id for score in result.lost)}" if result.lost else ""
        broken = f"; errors in {first_few(result.broken)}" if result.broken else ""
        how = f"ran to its end in {took}{points}{lost}{broken}"
    else:
        how = f"{result.verdict} after {took}: {result.reason}"
    return f"{result.lab}: {how}. The executed notebook is {executed}."
