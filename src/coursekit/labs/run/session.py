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
    from nbconvert import HTMLExporter  # a quarter of the start of `coursekit execute`, which needs none

    done: dict[str, LabResult] = {}
    try:
        for number, run in enumerate(plan, start=1):
            if stop.received:
                break
            progress.lab_started(run, number, len(plan))
            done[run.name] = execute_lab(run, folder / run.name, facts, progress.cell_started)
            progress.lab_ended(done[run.name])
            text, _ = HTMLExporter().from_filename(str(_executed(folder, run.name)))  # type: ignore[no-untyped-call]
            write_text(_executed(folder, run.name).with_suffix(".html"), text)
            write_report(folder, plan, done, facts)
    except KeyboardInterrupt:
        # Between two labs; inside one it becomes that lab's verdict.
        pass
    finally:
        end_marked(folder)
    return write_report(folder, plan, done, facts)


def _executed(folder: Path, lab: str) -> Path:
    return folder / lab / f"{lab}.ipynb"


def write_report(folder: Path, plan: Sequence[LabRun], done: Mapping[str, LabResult], facts: Facts) -> RunReport:
    """Write `report.json` and `report.html` into the run's folder: what is done by now, and what is not run."""
    labs = [
        done.get(run.name)
        or LabResult(
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
        for run in plan
    ]
    finished = datetime.now().astimezone().isoformat(timespec="seconds")
    report = RunReport(folder.name, finished, facts, tuple(labs))
    write_json(folder / JSON, report.to_json())
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
        num_passed=sum(result.verdict == results.PASSED for result in labs),
        links={lab: _links(folder, lab) for lab in done},
        pictures={lab: pictures_in(nbformat.read(_executed(folder, lab), as_version=4).cells) for lab in done},
    )
    write_text(folder / HTML, html)
    return report


def _links(folder: Path, lab: str) -> list[tuple[str, str]]:
    """Return text and relative address of each file that a reader may want to open."""
    notebook = _executed(folder, lab)
    links = [
        ("Executed notebook to read", notebook.with_suffix(".html")),
        ("Executed notebook for Jupyter", notebook),
        ("What the kernel wrote", notebook.with_name(KERNEL_LOG)),
    ]
    return [
        (text, path.relative_to(folder).as_posix()) for text, path in links if path.exists() and path.stat().st_size
    ]
