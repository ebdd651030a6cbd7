"""The report of a run in a terminal or a plain log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from coursekit.running import results
from coursekit.running.progress import MARKS
from coursekit.running.report import HTML
from coursekit.running.words import (
    describe_commit,
    describe_machine,
    describe_versions,
    format_memory,
    format_points,
    format_speed,
    format_time,
)

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from coursekit.running.results import LabResult, RunReport

NUM_SOURCE_LINES = 12


def show_report(console: Console, report: RunReport, folder: Path) -> None:
    """Print the table, what went wrong in each lab, the circumstances and where the rest is."""
    console.print(_table(report))
    for result in report.labs:
        if result.verdict != results.PASSED:
            _show_problem(console, result)
    facts = report.facts
    _line(console, f"on {describe_machine(facts)}")
    _line(console, describe_versions(facts))
    _line(console, f"commit {describe_commit(facts)}")
    _line(console, f"report: {folder / HTML}")


def _table(report: RunReport) -> Table:
    table = Table(title=f"run {report.name}", title_justify="left")
    table.add_column("lab", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    measured = any(result.images_per_s for result in report.labs)
    for heading in ("points", "time", "peak memory", "ranks", *(["images/s"] if measured else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in report.labs:
        table.add_row(
            escape(result.lab),
            MARKS[result.verdict],
            format_points(result),
            format_time(result.time_s),
            format_memory(result.peak_memory_mb),
            str(result.num_ranks),
            *([format_speed(result.images_per_s)] if measured else []),
        )
    return table


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
