"""`coursekit record`: repeat the runs that the figures of the lecture are made from."""

from __future__ import annotations

import time

import click
from rich.console import Console

from coursekit.errors import CourseKitError
from coursekit.paths import find_root


@click.command(epilog="Example: coursekit record allreduce")
@click.argument("names", metavar="[NAME]...", nargs=-1)
def record(names: tuple[str, ...]) -> None:
    """Repeat the runs that the slides' figures are made from, or those named, into slides/results/.

    Each result says by which command, on which commit, machine and day it was made.
    An older result stays until the new one is whole.
    """
    root = find_root()
    from coursekit.labs.run.facts import collect  # noqa: PLC0415  # brings psutil and more with it
    from coursekit.lecture.slides.results import record as record_one  # noqa: PLC0415  # as above
    from coursekit.lecture.slides.results import recorder_names  # noqa: PLC0415  # as above

    known = recorder_names(root)
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise CourseKitError(f"there is no recorder {', '.join(unknown)}: slides/recorders/ has {', '.join(known)}.")
    console = Console()
    facts = collect(root)
    for name in names or known:
        console.print(f"{name} …", highlight=False)
        start = time.monotonic()
        path = record_one(root, name, facts)
        seconds = time.monotonic() - start
        console.print(f"{path.relative_to(root).as_posix()}: {seconds:.0f} s", highlight=False, soft_wrap=True)
