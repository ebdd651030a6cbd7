"""`workshop published`: compare the scaling model with published measurements."""

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

    The model gets the smaller half of each published table, and typical values from the tables of other machines.
    It predicts the larger half; its errors are shown next to those of the rule that a GPU keeps its last known speed.
    """
    root = find_root()
    write_text(root / "docs" / "scaling.md", page.text(root))
    click.echo(page.in_words(summarize(predict_all())))
