"""Run the planned labs one after the other; what is known after each of them is on disk at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from coursekit.labs.run import folders, results
from coursekit.labs.run.execute import execute_lab
from coursekit.labs.run.preloaded import PreloadedKernels
from coursekit.labs.run.report import write_report
from coursekit.labs.run.results import LabResult, RunReport
from coursekit.processes import end_marked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from coursekit.labs.run.facts import Facts
    from coursekit.labs.run.plan import LabRun
    from coursekit.labs.run.progress import RunProgress
    from coursekit.processes import StopSignals

WORDS = {"parameters": "its parameters", "notebook": "its source", "package": "the package coursekit"}
KEPT = "kept from an earlier attempt"


def run_labs(folder: Path, plan: Sequence[LabRun], facts: Facts, progress: RunProgress, stop: StopSignals) -> RunReport:
    """Run every lab that has no valid result in the run's folder, and write the report after each.

    Labs that a signal to stop keeps from running count as not run; the folder is claimed by this process.
    """
    # What a run that was killed has left behind would disturb this one.
    end_marked(folder)
    done = {run.name: _kept(folder, run) for run in plan}
    try:
        with PreloadedKernels(folder) as kernels:
            for number, run in enumerate(plan, start=1):
                if stop.received:
                    break
                progress.lab_started(run, number, len(plan))
                result = done[run.name] or _run_lab(folder, run, facts, progress, kernels)
                done[run.name] = result
                progress.lab_ended(result)
                write_report(folder, _report(folder, plan, done.values(), facts))
    except KeyboardInterrupt:
        # Between two labs; inside one it becomes that lab's verdict.
        pass
    finally:
        end_marked(folder)
    report = _report(folder, plan, done.values(), facts)
    write_report(folder, report)
    return report


def _run_lab(folder: Path, run: LabRun, facts: Facts, progress: RunProgress, kernels: PreloadedKernels) -> LabResult:
    note = _why_again(folders.read_result(folder, run.name), run)
    folders.forget_result(folder, run.name)
    result = replace(execute_lab(run, folder / run.name, facts, progress.cell_started, kernels), note=note)
    folders.save_result(folder, result)
    return result


def _kept(folder: Path, run: LabRun) -> LabResult | None:
    previous = folders.read_result(folder, run.name)
    return None if previous is None or _why_again(previous, run) else replace(previous, note=KEPT)


def _why_again(previous: LabResult | None, run: LabRun) -> str:
    """Return why an earlier result no longer counts; empty if it does, or if no result exists."""
    if previous is None:
        return ""
    changed = [words for key, words in WORDS.items() if previous.fingerprint.get(key) != run.fingerprint[key]]
    if changed:
        return f"run again: {' and '.join(changed)} changed"
    return "" if previous.verdict == results.PASSED else f"run again: {previous.verdict} before"


def _report(folder: Path, plan: Sequence[LabRun], done: Iterable[LabResult | None], facts: Facts) -> RunReport:
    return RunReport(
        name=folder.name,
        finished=datetime.now().astimezone().isoformat(timespec="seconds"),
        facts=facts,
        labs=tuple(result or _not_run(run) for run, result in zip(plan, done)),
    )


def _not_run(run: LabRun) -> LabResult:
    return LabResult(
        lab=run.name,
        title=run.title,
        verdict=results.NOT_RUN,
        reason="the run ended before it",
        note="",
        scores=(),
        time_s=0.0,
        peak_memory_mb=0.0,
        num_ranks=run.num_ranks,
        parameters=run.parameters,
        fingerprint=run.fingerprint,
    )
