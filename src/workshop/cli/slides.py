"""`workshop slides`: build the lecture."""

from __future__ import annotations

import click
from rich.console import Console

from coursekit.cli import GROUPS as OF_THE_PRODUCT
from coursekit.paths import find_root
from workshop.cli import GROUPS as OF_THE_WORKSHOP
from workshop.slides.make import make_slides, select_decks

PROGRAMS = {"coursekit": OF_THE_PRODUCT, "workshop": OF_THE_WORKSHOP}
VERBS = {f"{name} {verb}" for name, groups in PROGRAMS.items() for verbs in groups.values() for verb in verbs}


@click.command(epilog="Example: workshop slides 03 --no-pdf")
@click.argument("names", metavar="[DECK]...", nargs=-1)
@click.option("--pdf/--no-pdf", default=True, show_default=True, help="Also print each deck to PDF.")
def slides(names: tuple[str, ...], pdf: bool) -> None:
    """Build the lecture in build/slides/.

    Without DECK, all decks are built. DECK is the beginning of a deck's name, such as 03.

    \b
    1. Figures are drawn, and numbers filled in, from slides/results/, slides/facts/ and slurm/sites/.
    2. Marp renders each deck to HTML, for presenting (press P for the notes), and to PDF.
    3. Chromium measures every slide, and lists everything that overflows or is too small or too pale to read.
    """  # noqa: D301 - click reads \b as "keep these lines"
    root = find_root()
    console = Console()
    with console.status("slides") as status:
        made = make_slides(root, select_decks(root, names), VERBS, pdf=pdf, progress=status.update)
    for path in made:
        console.print(path.relative_to(root).as_posix(), highlight=False, soft_wrap=True)
