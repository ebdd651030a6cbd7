"""`coursekit book`: the course as a static site."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from coursekit.paths import find_root


@click.command(epilog="Example: make run slides, then coursekit book and open build/book/index.html")
@click.option("--solutions", is_flag=True, help="Add the solved labs: the instructors' copy.")
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), help="Where to; by default build/book.")
def book(solutions: bool, output: Path | None) -> None:
    """Make one site of pages, labs and lectures, which any web server publishes and any browser reads offline.

    Labs are as students get them, with the pictures of the newest `make run`; no answer and no hidden test is in it.
    """
    root = find_root()
    from coursekit.lecture.book.make import make_book  # noqa: PLC0415  # help answers at once

    out = (output or root / "build" / ("book-with-solutions" if solutions else "book")).resolve()
    console = Console()
    with console.status("book") as status:
        made = make_book(
            root, root / "build", out, with_solutions=solutions, progress=lambda text: status.update(f"book: {text}")
        )
    console.print(f"{out}/index.html", highlight=False, soft_wrap=True)
    num_dropped = sum(map(len, made.dropped.values()))
    console.print(f"{num_dropped} links to files of the checkout that are no pages are words there.", highlight=False)
