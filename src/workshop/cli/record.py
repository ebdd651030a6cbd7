"""`workshop record`: repeat the runs behind the figures of the lecture."""

from __future__ import annotations

import time

import click
from rich.console import Console

from coursekit.errors import CourseKitError
from coursekit.labs.run.results import gather_facts
from coursekit.paths import find_root
from workshop.slides.results import record as record_one
from workshop.slides.results import recorder_names


@click.command(epilog="Example: workshop record allreduce")
@click.argument("names", metavar="[NAME]...", nargs=-1)
def record(names: tuple[str, ...]) -> None:
    """Repeat the runs behind the slides' figures, and write their results to slides/results/.

    Without NAME, all runs are repeated.
    Each result records the command, the commit, the machine and the date.
    An older result is replaced only when the new one is complete.
    """
    root = find_root()
    known = recorder_names(root)
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise CourseKitError(
            f"there is no recorder {', '.join(unknown)}: slides/recorders/ has {', '.join(known)}.", "recorder.unknown"
        )
    console = Console()
    facts = gather_facts(root)
    for name in names or known:
        console.print(f"{name} …", highlight=False)
        start = time.monotonic()
        path = record_one(root, name, facts)
        seconds = time.monotonic() - start
        console.print(f"{path.relative_to(root).as_posix()}: {seconds:.0f} s", highlight=False, soft_wrap=True)
