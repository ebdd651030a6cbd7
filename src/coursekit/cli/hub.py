"""`coursekit hub`: a day of the course in JupyterHub, on this machine, with people made for the occasion."""

from __future__ import annotations

from pathlib import Path

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

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
    help="Port of the address to open; the three after it are used, too.",
)
@click.option(
    "--state",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder that keeps the people's files.  [default: build/hub]",
)
def hub(port: int, state: Path | None) -> None:
    """Start JupyterHub on this machine with an instructor, three students and all labs, until Ctrl-C.

    Nothing listens beyond loopback.
    The accounts exist within the demo only; their files stay for the next time.
    """
    from coursekit.jupyter.hub.demo_hub import DemoHub  # noqa: PLC0415 - jupyterhub takes a second to import

    console = Console()
    with console.status("making the course and starting JupyterHub: about half a minute"):
        running = DemoHub(find_root(), port, state).start()
    with running:
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
