"""`coursekit hub`: a demo JupyterHub on this machine, with an instructor and three students."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from coursekit.jupyter.hub.demo_hub import demo_hub
from coursekit.paths import find_root

WHAT_TO_DO = (
    "student:     Nbgrader > Assignment List: Fetch a lab, open it, fill it in, Validate, Submit",
    "instructor:  Nbgrader > Course List: open the course, then Collect, Autograde, Generate and Release Feedback",
    "student:     Assignment List: Fetch Feedback, and look at it",
    "\nCtrl-C here ends everything.",
)


@click.command(epilog="Example: coursekit hub --port 8800")
@click.option(
    "--port",
    type=click.IntRange(1024, 65532),
    default=8000,
    show_default=True,
    metavar="PORT",
    help="Port of the address to open; the next 3 ports are used, too.",
)
@click.option(
    "--state",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The folder that keeps the users' files.  [default: build/hub]",
)
def hub(port: int, state: Path | None) -> None:
    """Start a demo JupyterHub on this machine, until Ctrl-C.

    It has an instructor, 3 students and all labs, and only this machine can reach it.
    The accounts exist only in the demo. Their files are kept for the next start.
    """
    console = Console()
    with ExitStack() as stack:
        with console.status("making the course and starting JupyterHub: about half a minute"):
            running = stack.enter_context(demo_hub(find_root(), port, state))
        table = Table(box=SIMPLE, padding=(0, 2, 0, 0))
        for title in ("username", "password (a token, only shown here)", "who"):
            table.add_column(title, no_wrap=True)
        for person, token in running.tokens.items():
            table.add_row(person.name, token, person.full_name)
        console.print(f"\nOpen  {running.address}  and log in:", highlight=False)
        console.print(table)
        for line in WHAT_TO_DO:
            console.print(line, highlight=False)
        running.wait()
    console.print(f"everything has ended; the people's files stay in {running.state}", highlight=False)
