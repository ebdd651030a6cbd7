"""`workshop published`: how well published measurements of scaling are predicted."""

from __future__ import annotations

from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table

from coursekit.cli.predict import print_whole
from coursekit.files import write_text
from coursekit.paths import find_root
from workshop.published import page
from workshop.published.priors import predict_all
from workshop.published.tables import summarize


@click.command(epilog="Example: workshop published --markdown docs/scaling.md")
@click.option("--markdown", metavar="FILE", type=click.Path(path_type=Path), help="Write the page docs/scaling.md.")
def published(markdown: Path | None) -> None:
    """Compare the scaling model with published measurements.

    The model gets the smaller half of each published table, and what is usual from the tables of other machines.
    It predicts the larger half, and its errors are shown beside those of keeping the last known speed of a GPU.
    """
    console = Console()
    table = Table(
        title="Published tables, predicted from their smaller half", title_justify="left", box=box.SIMPLE_HEAD
    )
    for heading in page.HEADINGS:
        table.add_column(heading, justify="left" if heading in page.WORDS else "right", no_wrap=True)
    for one in predict_all():
        table.add_row(*page.cells(one))
    print_whole(console, table)
    console.print(page.in_words(summarize(predict_all())), highlight=False, soft_wrap=True, markup=False)
    if markdown:
        write_text(markdown, page.text(find_root()))
        console.print(f"written {markdown}", soft_wrap=True, highlight=False)
