"""`coursekit slides`: make the lecture."""

from __future__ import annotations

import click
from rich.console import Console

from coursekit.cli import COMMANDS
from coursekit.paths import find_root


@click.command(epilog="Example: coursekit slides 03 --no-pdf --pictures")
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
        made = make_slides(
            root, select_decks(root, names), COMMANDS, pdf=pdf, pictures=pictures, progress=status.update
        )
    for path in made:
        console.print(path.relative_to(root).as_posix(), highlight=False, soft_wrap=True)
