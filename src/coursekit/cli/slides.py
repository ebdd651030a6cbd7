"""`coursekit slides` and `coursekit record`: make the lecture, and repeat the runs its figures are made from."""

from __future__ import annotations

import time

import click
from rich.console import Console

from coursekit.errors import CourseKitError
from coursekit.paths import find_root

EPILOG = "Example: coursekit slides 03 --no-pdf --pictures"


@click.command(epilog=EPILOG)
@click.argument("names", metavar="[DECK]...", nargs=-1)
@click.option("--pdf/--no-pdf", default=True, show_default=True, help="Print each deck to PDF, too.")
@click.option("--pictures", is_flag=True, help="Save a PNG of every slide, too: build/slides/pictures/.")
def slides(names: tuple[str, ...], pdf: bool, pictures: bool) -> None:
    """Make the lecture, or the decks named (a prefix such as 03 will do), in build/slides/.

    \b
    1. Figures are drawn, and numbers filled in, from slides/results/, slides/facts/ and slurm/sites/.
    2. Marp renders each deck to HTML, to present from (P: notes), and to PDF.
    3. Chromium measures every slide: what overflows, is too small or too pale to read ends in a list of faults.
    """  # noqa: D301 - click reads \b as "keep these lines"
    root = find_root()
    from coursekit.lecture.slides.make import make_slides, select_decks  # noqa: PLC0415  # brings matplotlib and a browser

    console = Console()
    with console.status("slides") as status:
        made = make_slides(root, select_decks(root, names), pdf=pdf, pictures=pictures, progress=status.update)
    for path in made:
        console.print(path.relative_to(root).as_posix(), highlight=False, soft_wrap=True)


@click.command(epilog="Example: coursekit record allreduce")
@click.argument("names", metavar="[NAME]...", nargs=-1)
def record(names: tuple[str, ...]) -> None:
    """Repeat the runs that the slides' figures are made from, or those named, into slides/results/.

    Each result says by which command, on which commit, machine and day it was made.
    An older result stays until the new one is whole.
    """
    root = find_root()
    from coursekit.labs.run.facts import collect  # noqa: PLC0415  # as above
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
