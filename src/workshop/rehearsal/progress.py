"""How a rehearsal is shown: a line per change, and a table at the end."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from workshop.rehearsal.jobs import RehearsedJob


class RehearsalProgress:
    """Show what happens, each line with the time since the beginning."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._states: dict[str, str] = {}
        self._begun_s = time.monotonic()

    def say(self, text: str) -> None:
        """Show what begins now."""
        minutes, seconds = divmod(int(time.monotonic() - self._begun_s), 60)
        self._console.print(f"[{minutes}:{seconds:02}] {text}", markup=False, highlight=False, soft_wrap=True)

    def show(self, jobs: Sequence[RehearsedJob]) -> None:
        """Show which jobs have begun or ended since the last call, and how many are done."""
        for job in jobs:
            if self._states.get(job.script, "PENDING") != job.state:
                num_done = sum(one.ended for one in jobs)
                where = f" on {job.nodes}" if job.nodes and not job.ended else ""
                end = f" after {job.elapsed_s} s: {job.last_line} ({num_done} of {len(jobs)} done)" if job.ended else ""
                self.say(f"{job.script}: {job.state}{where}{end}")
            self._states[job.script] = job.state


def table(jobs: Sequence[RehearsedJob]) -> Table:
    """Return one row per job."""
    rows = Table("script", "state", "seconds", "nodes", "its last line")
    for job in jobs:
        colour = "green" if job.good else "bold red" if job.ended else "yellow"
        rows.add_row(job.script, f"[{colour}]{job.state}[/]", str(job.elapsed_s), job.nodes, escape(job.last_line))
    return rows
