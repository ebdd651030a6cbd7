"""How rehearsed jobs are shown: a live table in a terminal, a line per change in a plain log."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from rich.live import Live
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from coursekit.slurm.rehearsal.jobs import RehearsedJob


class RehearsalProgress:
    """Show jobs while they run."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        self._states: dict[str, str] = {}

    @contextmanager
    def shown(self) -> Iterator[RehearsalProgress]:
        """Keep the live table on the screen during a `with` block."""
        with self._live or nullcontext():
            yield self

    def show(self, jobs: Sequence[RehearsedJob]) -> None:
        """Show how jobs stand now."""
        if self._live is not None:
            self._live.update(table(jobs), refresh=True)
            return
        for job in jobs:
            if self._states.get(job.script) != job.state:
                self._states[job.script] = job.state
                line = f"{job.script}: {job.state} {job.elapsed_s} s {job.nodes} {job.last_line if job.ended else ''}"
                self._console.print(line.rstrip(), markup=False, highlight=False, soft_wrap=True)


def table(jobs: Sequence[RehearsedJob]) -> Table:
    """Return one row per job."""
    rows = Table("script", "state", "seconds", "nodes", "its last line")
    for job in jobs:
        colour = "green" if job.good else "bold red" if job.ended else "yellow"
        state = f"[{colour}]{job.state}[/]"
        rows.add_row(job.script, state, str(job.elapsed_s), job.nodes, escape(job.last_line))
    return rows
