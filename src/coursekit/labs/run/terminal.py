"""A run in a terminal or a plain log: while it goes on, and its report."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from coursekit.labs.run import results
from coursekit.labs.run.plan import LabRun
from coursekit.labs.run.results import HTML, LabResult, RunReport, format_points, format_speed, format_time

MARKS = {
    results.PASSED: "[green]passed[/]",
    results.FAILED: "[bold red]FAILED[/]",
    results.INTERRUPTED: "[yellow]interrupted[/]",
    results.NOT_RUN: "[yellow]not run[/]",
}
NUM_OTHER_COLUMNS = 73  # of a terminal: for long names of lab and cell, and what stands between
NUM_SOURCE_LINES = 12


class RunProgress:
    """Show which lab and which cell runs, and how each lab ended."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=min(20, max(1, console.width - NUM_OTHER_COLUMNS))),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[cell]}", style="dim"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None, cell="", visible=False)
        self._lab = ""

    def shown(self) -> Progress:
        """Keep the live bar on the screen during a `with` block."""
        return self._bar

    def lab_started(self, run: LabRun, number: int, num_labs: int) -> None:
        """Show that a lab begins: the time until its first cell is the start of its kernel."""
        self._lab = f"lab {number}/{num_labs} {run.name}"
        self._bar.reset(self._task, description=escape(self._lab), total=None, cell="starting", visible=True)

    def cell_started(self, number: int, total: int, name: str) -> None:
        """Show that a code cell begins."""
        self._bar.update(self._task, completed=number - 1, total=total, cell=escape(name))
        if not self._console.is_terminal:
            self._print(f"{escape(self._lab)}: cell {number}/{total} {escape(name)}")

    def lab_ended(self, result: LabResult) -> None:
        """Print how a lab ended; this line stays."""
        points = f"{format_points(result)} points"
        self._bar.update(self._task, visible=False)
        self._print(f"{escape(self._lab)}: {MARKS[result.verdict]}, {points}, {format_time(result.time_s)}")

    def _print(self, text: str) -> None:
        self._console.print(text, highlight=False, soft_wrap=True)


def show_report(console: Console, report: RunReport, folder: Path) -> None:
    """Print the table, what went wrong in each lab, the circumstances and where the rest is."""
    table = Table(title=f"run {report.name}", title_justify="left")
    # What 79 columns have room for; the report also has the memory.
    for heading in ("lab", "verdict", "points", "time", "ranks", "images/s"):
        table.add_column(heading, justify="left" if heading in {"lab", "verdict"} else "right", no_wrap=True)
    for one in report.labs:
        time, speed = format_time(one.time_s), format_speed(one.images_per_s)
        table.add_row(escape(one.lab), MARKS[one.verdict], format_points(one), time, str(one.num_ranks), speed)
    console.print(table)
    for result in report.labs:
        if result.verdict != results.PASSED:
            _show_problem(console, result)
    machine, versions, commit = report.facts.in_words()
    _line(console, f"on {machine}\n{versions}\ncommit {commit}")
    _line(console, f"report, also of memory: {folder / HTML}")


def _show_problem(console: Console, result: LabResult) -> None:
    heading = f"\n{MARKS[result.verdict]} {escape(result.lab)}: {escape(result.reason)}"
    console.print(heading, highlight=False, soft_wrap=True)
    cell = result.failed_cell
    if cell:
        source = cell.source.splitlines()
        shown = source[-NUM_SOURCE_LINES:]
        cut = ["..."] if len(shown) < len(source) else []
        for line in [f"cell {cell.number} ({cell.name}):", *cut, *shown, "", *cell.error.splitlines()]:
            _line(console, f"    {line}".rstrip())
    console.print()


def _line(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
