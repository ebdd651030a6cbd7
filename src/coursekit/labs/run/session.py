"""A run: labs one after the other, in a folder of its own; after each, what is known is on disk as a report.

The report is JSON for programs, and one self-contained HTML file for people.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from coursekit.files import write_json, write_text
from coursekit.labs.cells import pictures_in
from coursekit.labs.run import results
from coursekit.labs.run.execute import execute_lab
from coursekit.labs.run.facts import Facts
from coursekit.labs.run.plan import LabRun
from coursekit.labs.run.results import HTML, LabResult, RunReport
from coursekit.labs.run.terminal import RunProgress
from coursekit.labs.run.watch import KERNEL_LOG
from coursekit.pages import page_template
from coursekit.processes import StopSignals, end_marked

RUNS, LATEST = "build/runs", "latest"
HERE, TEMPLATE = Path(__file__).parent, "report.html.j2"
JSON = "report.json"


def new_folder(parent: Path, prefix: str = "") -> Path:
    """Make a folder that nothing was kept in before, named after this Slurm job's number or the local time.

    A job that Slurm starts again has the same number, and a folder of its own.
    """
    number = os.environ.get("SLURM_JOB_ID")
    stem = prefix + (number or datetime.now().astimezone().strftime("%Y-%m-%dT%H-%M-%S"))
    for attempt in count(1):
        folder = parent / (stem if attempt == 1 else f"{stem}-attempt-{attempt}")
        with suppress(FileExistsError):
            folder.mkdir(parents=True)
            break
    return folder


def point_latest(folder: Path) -> None:
    """Let `build/runs/latest` lead to this run, without a moment in which it leads nowhere."""
    fresh = folder.parent / f".{LATEST}-{folder.name}"
    fresh.symlink_to(folder.name)
    fresh.replace(folder.parent / LATEST)


def run_labs(folder: Path, plan: Sequence[LabRun], facts: Facts, progress: RunProgress, stop: StopSignals) -> RunReport:
    """Run the labs in the run's folder, and write the report after each.

    Labs that a signal to stop keeps from running count as not run.
    """
    done: dict[str, LabResult] = {}
    try:
        for number, run in enumerate(plan, start=1):
            if stop.received:
                break
            progress.lab_started(run, number, len(plan))
            done[run.name] = execute_lab(run, folder / run.name, facts, progress.cell_started)
            progress.lab_ended(done[run.name])
            write_report(folder, _report(folder, plan, done, facts))
    except KeyboardInterrupt:
        # Between two labs; inside one it becomes that lab's verdict.
        pass
    finally:
        end_marked(folder)
    report = _report(folder, plan, done, facts)
    write_report(folder, report)
    return report


def _report(folder: Path, plan: Sequence[LabRun], done: Mapping[str, LabResult], facts: Facts) -> RunReport:
    return RunReport(
        name=folder.name,
        finished=datetime.now().astimezone().isoformat(timespec="seconds"),
        facts=facts,
        labs=tuple(done.get(run.name) or _not_run(run) for run in plan),
    )


def _not_run(run: LabRun) -> LabResult:
    return LabResult(
        lab=run.name,
        title=run.title,
        verdict=results.NOT_RUN,
        reason="the run ended before it",
        scores=(),
        time_s=0.0,
        peak_memory_mb=0.0,
        num_ranks=run.num_ranks,
        parameters=run.parameters,
    )


def write_report(folder: Path, report: RunReport) -> None:
    """Write `report.json`, `report.html` and every executed notebook as HTML into the run's folder."""
    write_json(folder / JSON, report.to_json())
    notebooks = {result.lab: _executed_notebook(folder, result) for result in report.labs}
    for path in notebooks.values():
        if path:
            _export_html(path)
    template = page_template(
        TEMPLATE,
        HERE,
        points=results.format_points,
        memory=results.format_memory,
        time=results.format_time,
        speed=results.format_speed,
    )
    html = template.render(
        report=report,
        passed=results.PASSED,
        num_passed=sum(result.verdict == results.PASSED for result in report.labs),
        links={lab: _links(folder, path) for lab, path in notebooks.items()},
        pictures={lab: pictures_in(_cells(path)) for lab, path in notebooks.items()},
    )
    write_text(folder / HTML, html)


def _cells(notebook: Path | None) -> list[NotebookNode]:
    return list(nbformat.read(notebook, as_version=4).cells) if notebook else []


def _executed_notebook(folder: Path, result: LabResult) -> Path | None:
    path = folder / result.lab / f"{result.lab}.ipynb"
    return path if result.verdict != results.NOT_RUN and path.exists() else None


def _export_html(notebook: Path) -> None:
    html = notebook.with_suffix(".html")
    if html.exists() and html.stat().st_mtime >= notebook.stat().st_mtime:
        return
    from nbconvert import HTMLExporter  # a quarter of the start of `coursekit execute`, which needs none

    text, _ = HTMLExporter().from_filename(str(notebook))  # type: ignore[no-untyped-call]
    write_text(html, text)


def _links(folder: Path, notebook: Path | None) -> list[tuple[str, str]]:
    """Return text and relative address of each file that a reader may want to open."""
    if notebook is None:
        return []
    candidates = [
        ("Executed notebook to read", notebook.with_suffix(".html")),
        ("Executed notebook for Jupyter", notebook),
        ("What the kernel wrote", notebook.parent / KERNEL_LOG),
    ]
    return [
        (text, path.relative_to(folder).as_posix())
        for text, path in candidates
        if path.exists() and path.stat().st_size
    ]
