"""The report of a run in a terminal or a plain log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from coursekit.labs.run import formatting, results
from coursekit.labs.run.progress import MARKS
from coursekit.labs.run.report import HTML

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rich.console import Console

    from coursekit.labs.run.results import LabResult, RunReport

NUM_SOURCE_LINES = 12
ANY_WIDTH = 10_000

SPEED, MEMORY = "images/s", "peak memory"
COLUMNS: dict[str, Callable[[LabResult], str]] = {
    "lab": lambda result: escape(result.lab),
    "verdict": lambda result: MARKS[result.verdict],
    "points": formatting.format_points,
    "time": lambda result: formatting.format_time(result.time_s),
    MEMORY: lambda result: formatting.format_memory(result.peak_memory_mb),
    "ranks": lambda result: str(result.num_ranks),
    SPEED: lambda result: formatting.format_speed(result.images_per_s),
}
WORDS = ("lab", "verdict")
SPARED = (MEMORY, SPEED)  # left to the report, in this order, where a row would be wider than the terminal or the log


def show_report(console: Console, report: RunReport, folder: Path) -> None:
    """Print the table, what went wrong in each lab, the circumstances and where the rest is."""
    tables = [_table(report, SPARED[:num_spared]) for num_spared in range(len(SPARED) + 1)]
    num_spared = next((number for number, table in enumerate(tables) if _fits(console, table)), len(SPARED))
    console.print(tables[num_spared])
    for result in report.labs:
        if result.verdict != results.PASSED:
            _show_problem(console, result)
    facts = report.facts
    _line(console, f"on {formatting.describe_machine(facts)}")
    _line(console, formatting.describe_versions(facts))
    _line(console, f"commit {formatting.describe_commit(facts)}")
    rest = f" (also {' and '.join(SPARED[:num_spared])})" if num_spared else ""
    _line(console, f"report{rest}: {folder / HTML}")


def _table(report: RunReport, spared: Sequence[str]) -> Table:
    columns = {heading: [cell(result) for result in report.labs] for heading, cell in COLUMNS.items()}
    if not any(result.images_per_s for result in report.labs):
        del columns[SPEED]
    table = Table(title=f"run {report.name}", title_justify="left")
    kept = [heading for heading in columns if heading not in spared]
    for heading in kept:
        table.add_column(heading, justify="left" if heading in WORDS else "right", no_wrap=True)
    for row in zip(*(columns[heading] for heading in kept)):
        table.add_row(*row)
    return table


def _fits(console: Console, table: Table) -> bool:
    """Return whether no cell has to be cut."""
    return console.measure(table, options=console.options.update(width=ANY_WIDTH)).maximum <= console.width


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
