"""`workshop schedule`: make the timetable of lectures and labs."""

from __future__ import annotations

import click

from coursekit.paths import find_root
from workshop.slides.schedule import write_schedule


@click.command(epilog="Example: workshop schedule")
def schedule() -> None:
    """Generate docs/schedule.md, the timetable, from the minutes of decks and labs."""
    write_schedule(find_root())
