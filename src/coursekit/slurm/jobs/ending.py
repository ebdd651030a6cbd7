"""How a job ended: verdict, explanations, the picture."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from coursekit.labs.run.results import PASSED
from coursekit.slurm.jobs import outcome
from coursekit.slurm.jobs.explain import explain, read_tail
from coursekit.slurm.jobs.states import COMPLETED, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from coursekit.labs.run.results import LabResult
    from coursekit.slurm.jobs.remembered import SubmittedJob
    from coursekit.slurm.jobs.states import JobState

POLL_S = 0.5


def show_ending(
    root: Path, job: SubmittedJob, state: JobState, write: Callable[[str], None], patience_s: float = 0
) -> bool:
    """Show how a job ended and return whether it went well; wait up to `patience_s` for files of one that completed."""
    leaves_result = job.name == job.lab and (root / "labs" / job.lab).is_dir()
    result = _await_result(root, job, patience_s if state.state == COMPLETED and leaves_result else 0)
    lines = [_headline(job, state)]
    lines += [outcome.describe_result(result)] if result else []
    passed = result.verdict == PASSED if result else state.state == COMPLETED
    if not passed:
        said = read_tail(root / job.log) + (result.failed_cell.error if result and result.failed_cell else "")
        lines += [str(explanation) for explanation in explain(state, said)]
        lines += [f"The whole log is {job.log}."] if (root / job.log).exists() else []
    notebook = outcome.executed_notebook(root, job)
    lines += [f"The executed notebook is {notebook.relative_to(root)}."] if notebook else []
    write("\n" + "\n".join(lines) + "\n")
    if notebook:
        _show_pictures(notebook, root, write)
    return passed


def _await_result(root: Path, job: SubmittedJob, patience_s: float) -> LabResult | None:
    deadline = time.monotonic() + patience_s
    while True:
        result = outcome.read_result(root, job)
        if result or time.monotonic() >= deadline:
            return result
        time.sleep(POLL_S)


def _headline(job: SubmittedJob, state: JobState) -> str:
    if state.state == UNKNOWN:
        return f"Slurm no longer knows job {job.job_id} ({job.name}); this is what it left:"
    after = f" after {state.elapsed}" if state.ever_ran else " without having started"
    return f"Job {job.job_id} ({job.name}) ended as {state.state}{after}."


def _show_pictures(notebook: Path, root: Path, write: Callable[[str], None]) -> None:
    """Show the lab's last picture in a notebook; in a terminal say where all of them are."""
    if outcome.in_notebook():
        from coursekit.pictures.output import display_png  # noqa: PLC0415 - only notebooks show pictures

        for picture in outcome.read_pictures(notebook)[-1:]:
            display_png(picture.content, picture.alternative)
        return
    for path in outcome.save_pictures(notebook):
        write(f"    {path.relative_to(root)}\n")
