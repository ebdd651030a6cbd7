"""`workshop book`: build the course as a static site."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from coursekit.paths import find_root
from workshop.book.make import make_book


@click.command(epilog="Example: make run slides, then workshop book and open build/book/index.html")
@click.option(
    *("-o", "--output"),
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to write to.  [default: build/book]",
)
def book(output: Path | None) -> None:
    """Build the course as a website: pages, labs and lectures.

    Any web server can publish the website, and any browser can show it offline.
    The labs are the students' versions, without answers and hidden tests, but with pictures from the newest `make run`.
    """
    root = find_root()
    out = (output or root / "build" / "book").resolve()
    console = Console()
    with console.status("book") as status:
        make_book(root, root / "build", out, lambda text: status.update(f"book: {text}"))
    console.print(f"{out}/index.html", highlight=False, soft_wrap=True)
