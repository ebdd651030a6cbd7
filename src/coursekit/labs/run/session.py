"""Run labs one after another in a new folder, and write a report of the results so far after each lab.

The report is a JSON file for programs, and a self-contained HTML file for people; the terminal shows a short form.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import nbformat
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from coursekit.files import write_json, write_text
from coursekit.labs.cells import pictures_in
from coursekit.labs.run import results
from coursekit.labs.run.execute import execute_lab
from coursekit.labs.run.plan import LabRun
from coursekit.labs.run.results import HTML, Facts, LabResult, format_memory, format_points, format_speed, format_time
from coursekit.labs.run.watch import KERNEL_LOG
from coursekit.pages import page_template
from coursekit.processes import StopSignals, end_marked

RUNS, LATEST = "build/runs", "latest"
HERE, TEMPLATE = Path(__file__).parent, "report.html.j2"
JSON = "report.json"
MARKS = {
    results.PASSED: "[green]passed[/]",
    results.FAILED: "[bold red]FAILED[/]",
    results.INTERRUPTED: "[yellow]interrupted[/]",
    results.NOT_RUN: "[yellow]not run[/]",
}


def point_latest(folder: Path) -> None:
    """Make `build/runs/latest` point to this run; the link is never missing, not even for a moment."""
    fresh = folder.parent / f".{LATEST}-{folder.name}"
    fresh.symlink_to(folder.name)
    fresh.replace(folder.parent / LATEST)


class RunProgress:
    """Shows which lab and which cell are running: in a terminal on a single line, in a log on one line per cell."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.line = console.status("")  # visible within a `with` block
        self._lab = ""

    def lab_started(self, run: LabRun, number: int, num_labs: int) -> None:
        """Show that a lab is starting; its kernel has to start before its first cell runs."""
        self._lab = f"lab {number}/{num_labs} {escape(run.name)}"
        self.line.update(f"{self._lab}: starting")

    def cell_started(self, number: int, total: int, name: str) -> None:
        """Show that a code cell is starting."""
        text = f"{self._lab}: cell {number}/{total} {escape(name)}"
        self.line.update(text)
        if not self._console.is_terminal:
            _print(self._console, text, markup=True)

    def lab_ended(self, result: LabResult) -> None:
        """Print how a lab ended, on a line that stays visible."""
        points = f"{format_points(result)} points"
        text = f"{self._lab}: {MARKS[result.verdict]}, {points}, {format_time(result.time_s)}"
        _print(self._console, text, markup=True)


def run_labs(
    folder: Path, plan: Sequence[LabRun], facts: Facts, progress: RunProgress, stop: StopSignals
) -> list[LabResult]:
    """Run the labs in the run's folder, and write the report after each lab.

    If a signal stops the run, the remaining labs count as not run.
    """
    from nbconvert import HTMLExporter  # imported late, so that `coursekit execute` starts faster

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
        pass  # it came between two labs; during a lab, it decides that lab's verdict
    finally:
        end_marked(folder)
    return write_report(folder, plan, done, facts)


def _executed(folder: Path, lab: str) -> Path:
    return folder / lab / f"{lab}.ipynb"


def write_report(folder: Path, plan: Sequence[LabRun], done: Mapping[str, LabResult], facts: Facts) -> list[LabResult]:
    """Write `report.json` and `report.html` into the run's folder, and return the results that they contain.

    A lab that has not run yet has the result "not run".
    """
    reason = "the run ended before this lab started"
    labs = [
        done.get(run.name)
        or LabResult(run.name, run.title, results.NOT_RUN, reason, num_ranks=run.num_ranks, parameters=run.parameters)
        for run in plan
    ]
    finished = datetime.now().astimezone().isoformat(timespec="seconds")
    report = {"name": folder.name, "finished": finished, "facts": asdict(facts)}
    num_passed = sum(result.verdict == results.PASSED for result in labs)
    all_passed = num_passed == len(labs)
    write_json(folder / JSON, {**report, "passed": all_passed, "labs": [result.to_json() for result in labs]})
    template = page_template(
        TEMPLATE, HERE, points=format_points, memory=format_memory, time=format_time, speed=format_speed
    )
    html = template.render(
        run=folder.name,
        finished=finished,
        facts=facts,
        labs=labs,
        passed=results.PASSED,
        num_passed=num_passed,
        links={lab: _links(folder, result) for lab, result in done.items()},
        pictures={lab: pictures_in(nbformat.read(_executed(folder, lab), as_version=4).cells) for lab in done},
    )
    write_text(folder / HTML, html)
    return labs


def _links(folder: Path, result: LabResult) -> list[tuple[str, str]]:
    """Return the text and relative address of each file that a reader may want to open."""
    notebook = _executed(folder, result.lab)
    links = [
        ("Executed notebook to read", notebook.with_suffix(".html")),
        ("Executed notebook for Jupyter", notebook),
    ]
    if result.verdict != results.PASSED:  # otherwise the kernel's only output is that it was interrupted at the end
        links.append(("Output of the kernel", notebook.with_name(KERNEL_LOG)))
    return [
        (text, path.relative_to(folder).as_posix()) for text, path in links if path.exists() and path.stat().st_size
    ]


def show_report(console: Console, labs: Sequence[LabResult], facts: Facts, folder: Path) -> None:
    """Print the table, the errors in each lab, the facts of the run, and the path of the full report."""
    table = Table(title=f"run {folder.name}", title_justify="left")
    # These columns fit into 79 characters; the report also shows the memory.
    for heading in ("lab", "verdict", "points", "time", "ranks", "images/s"):
        table.add_column(heading, justify="left" if heading in {"lab", "verdict"} else "right", no_wrap=True)
    for one in labs:
        time, speed = format_time(one.time_s), format_speed(one.images_per_s)
        table.add_row(escape(one.lab), MARKS[one.verdict], format_points(one), time, str(one.num_ranks), speed)
    console.print(table)
    for one in labs:
        if one.verdict != results.PASSED:
            _print(console, f"\n{MARKS[one.verdict]} {escape(one.lab)}: {escape(one.reason)}", markup=True)
            # The traceback also shows the code.
            _print(console, f"{textwrap.indent(one.failed_cell.error, '    ')}\n" if one.failed_cell else "")
    machine, versions, commit = facts.in_words()
    _print(console, f"on {machine}\n{versions}\ncommit {commit}")
    _print(console, f"full report, including memory: {folder / HTML}")


def _print(console: Console, text: str, *, markup: bool = False) -> None:
    console.print(text, markup=markup, highlight=False, soft_wrap=True)
