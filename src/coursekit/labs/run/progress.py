"""RunProgress of a run: a live bar in a terminal, a line per cell in a plain log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from coursekit.labs.run import results
from coursekit.labs.run.formatting import format_points, format_time

if TYPE_CHECKING:
    from rich.console import Console

    from coursekit.labs.run.plan import LabRun
    from coursekit.labs.run.results import LabResult

MARKS = {
    results.PASSED: "[green]passed[/]",
    results.FAILED: "[bold red]FAILED[/]",
    results.INTERRUPTED: "[yellow]interrupted[/]",
    results.NOT_RUN: "[yellow]not run[/]",
}
NUM_OTHER_COLUMNS = 73  # of a terminal: for long names of lab and cell, and what stands between


class RunProgress:
    """Show which lab and which cell runs, and how each lab ended."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar = Bar(
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

    def shown(self) -> Bar:
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
        note = f" ({result.note})" if result.note else ""
        self._bar.update(self._task, visible=False)
        self._print(
            f"{escape(self._lab)}: {MARKS[result.verdict]}, {points}, {format_time(result.time_s)}{escape(note)}"
        )

    def _print(self, text: str) -> None:
        self._console.print(text, highlight=False, soft_wrap=True)
