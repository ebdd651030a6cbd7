"""`coursekit hub`: a demo JupyterHub on this machine, with an instructor and three students."""

from contextlib import ExitStack
from pathlib import Path

import click
from rich.console import Console

from coursekit.jupyter.hub.demo_hub import INSTRUCTOR, STUDENTS, demo_hub
from coursekit.labs.lab import find_labs
from coursekit.labs.needs import lacking
from coursekit.paths import find_root

WHAT_TO_DO = (
    "student:     Nbgrader > Assignment List: Fetch a lab, open it, fill it in, Validate, Submit",
    "instructor:  Nbgrader > Course List: open the course, then Collect, Autograde, Generate and Release Feedback",
    "student:     Assignment List: Fetch Feedback, and read it",
    "\nCtrl-C here ends everything.",
)


@click.command(epilog="Example: coursekit hub --port 8800")
@click.option(
    "--port",
    type=click.IntRange(1024, 65532),
    default=8000,
    show_default=True,
    metavar="PORT",
    help="Port at which you open the hub; the next 3 ports are also used.",
)
@click.option(
    "--state",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder for the users' files.  [default: build/hub; if you are not root, ~/.local/state/coursekit/hub]",
)
@click.option("--watch", is_flag=True, help="Grade submissions and release feedback automatically.")
def hub(port: int, state: Path | None, *, watch: bool) -> None:
    """Run a demo JupyterHub on this machine until you press Ctrl-C.

    It has accounts for an instructor and 3 students, and all labs that can run here. Only this machine can reach it.
    The accounts exist only in the demo, but their files are kept for the next start.
    """
    root, console = find_root(), Console(highlight=False)
    with ExitStack() as stack:
        with console.status("creating the course and starting JupyterHub: about half a minute"):
            running = stack.enter_context(demo_hub(root, port, state, watch=watch))
        names = ", ".join(person.name for person in (INSTRUCTOR, *STUDENTS))
        console.print(f"\nOpen  {running.address}  and log in as {names}")
        console.print(f"password for all of them, shown only here:  {running.password}\n", markup=False)
        for sentence in filter(None, map(lacking, find_labs(root))):
            console.print(sentence, markup=False)
        for line in WHAT_TO_DO:
            console.print(line)
        running.wait()
    console.print(f"everything has stopped; the users' files are kept in {running.state}")
