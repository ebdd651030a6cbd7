"""How a rehearsal is shown: a line per change, signs of life, and a table at the end."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from workshop.rehearsal.jobs import RUNNING, RehearsedJob

SIGN_OF_LIFE_S = 30.0


class RehearsalProgress:
    """Show what happens, each line with the time since the beginning."""

    def __init__(self, console: Console, sign_of_life_s: float = SIGN_OF_LIFE_S) -> None:
        self._console = console
        self._states: dict[str, str] = {}
        self._sign_of_life_s = sign_of_life_s
        self._begun_s = self._said_s = time.monotonic()

    def say(self, text: str) -> None:
        """Show what begins now."""
        self._said_s = time.monotonic()
        self._console.print(f"[{self._clock()}] {text}", markup=False, highlight=False, soft_wrap=True)

    def show(self, jobs: Sequence[RehearsedJob]) -> None:
        """Show how jobs stand now."""
        for job in jobs:
            if self._states.get(job.script, job.state) != job.state or (job.ended and job.script not in self._states):
                self.say(_change(job))
            self._states[job.script] = job.state
        if time.monotonic() - self._said_s >= self._sign_of_life_s:
            working = (
                f"{job.script} {job.elapsed_s} s, {job.last_line or 'no word yet'}"
                for job in jobs
                if job.state in RUNNING
            )
            self.say("; ".join([_counts(jobs), *working]))

    def _clock(self) -> str:
        minutes, seconds = divmod(int(time.monotonic() - self._begun_s), 60)
        return f"{minutes}:{seconds:02}"


def table(jobs: Sequence[RehearsedJob]) -> Table:
    """Return one row per job."""
    rows = Table("script", "state", "seconds", "nodes", "its last line")
    for job in jobs:
        colour = "green" if job.good else "bold red" if job.ended else "yellow" if job.state in RUNNING else "dim"
        state = f"[{colour}]{'waits its turn' if job.held and not job.ended else job.state}[/]"
        rows.add_row(job.script, state, str(job.elapsed_s or ""), job.nodes, escape(job.last_line))
    return rows


def _counts(jobs: Sequence[RehearsedJob]) -> str:
    """Return "1 of 7 scripts done, 2 running"."""
    num_running = sum(job.state in RUNNING for job in jobs)
    return f"{sum(job.ended for job in jobs)} of {len(jobs)} scripts done, {num_running} running"


def _change(job: RehearsedJob) -> str:
    where = f" on {job.nodes}" if job.nodes and not job.ended else ""
    took = f" after {job.elapsed_s} s" if job.ended and job.elapsed_s else ""
    return f"{job.script}: {job.state}{where}{took}{f': {job.last_line}' if job.ended else ''}"
