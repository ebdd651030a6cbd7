"""`workshop words`: find words that the kit's texts should not use."""

from __future__ import annotations

import click

from coursekit.errors import CourseKitError
from coursekit.paths import find_root
from workshop.words.check import findings, load_rules


@click.command(epilog="Example: workshop words")
def words() -> None:
    """Find words to avoid in README, docs, slides, labs and messages, and suggest better words.

    The list is src/workshop/words/words.toml.
    """
    found = findings(find_root(), load_rules())
    for message in found:
        click.echo(message)
    if found:
        raise CourseKitError(
            f"lines with words to avoid: {len(found)} (CONTRIBUTING.md has the rules of style).", "words.out"
        )
