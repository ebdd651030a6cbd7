"""`workshop published`: how well published measurements of scaling are predicted."""

from __future__ import annotations

import click

from coursekit.files import write_text
from coursekit.paths import find_root
from workshop.published import page
from workshop.published.priors import predict_all
from workshop.published.tables import summarize


@click.command(epilog="Example: workshop published")
def published() -> None:
    """Compare the scaling model with published measurements, and write docs/scaling.md.

    The model gets the smaller half of each published table, and what is usual from the tables of other machines.
    It predicts the larger half, and its errors are shown beside those of keeping the last known speed of a GPU.
    """
    root = find_root()
    write_text(root / "docs" / "scaling.md", page.text(root))
    click.echo(page.in_words(summarize(predict_all())))
