"""The command `coursekit doctor`."""

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from coursekit.cli.shared import JSON_FILE
from coursekit.errors import CourseKitError
from coursekit.files import write_json
from coursekit.slurm.doctor import ASK_LIMIT_S, Finding, examine, optional
from coursekit.slurm.probe import ask

STYLES = {"good": "green", "missing": "yellow", "wrong": "bold red"}


@click.command(epilog="Example: coursekit doctor --json doctor.json")
@JSON_FILE
def doctor(json_file: Path | None) -> None:
    """Check whether this machine has all that the labs need.

    The checks go from versions of packages to an allreduce between 2 ranks.
    GPUs, Slurm and the grading sandbox may be missing; the labs run without them.
    Exit status: 0 when nothing that the labs need is missing or wrong, else 1.
    """
    with Console(stderr=True).status("looking …") as status:
        # A students' copy has no grader.
        more = [("the grading sandbox", check_sandbox)] if find_spec("coursekit.grading.isolation") else []
        findings = list(examine(lambda subject: status.update(f"looking at {subject} …"), more))
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("looked at", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("found, and what to do", overflow="fold")
    for finding in findings:
        style = "dim" if finding.state == "missing" and not finding.needed else STYLES[finding.state]
        remedy = f"\n[dim]→ {escape(finding.remedy)}[/]" if finding.remedy else ""
        table.add_row(finding.name, f"[{style}]{finding.state}[/]", escape(finding.text) + remedy)
    Console().print(table)
    hindrances = [finding.name for finding in findings if finding.hinders]
    ready = "Ready: nothing that the labs need is missing."
    click.echo(f"Fix first: {', '.join(hindrances)}." if hindrances else ready)
    if json_file:
        write_json(json_file, {"ready": not hindrances, "findings": [finding._asdict() for finding in findings]})
    sys.exit(bool(hindrances))


def check_sandbox() -> Finding:
    """Look at bubblewrap, and start the sandbox in which `coursekit grade` runs a hand-in."""
    from coursekit.grading.isolation.sandbox import require_sandbox  # a students' copy has none

    name = "Grading sandbox"
    try:
        require_sandbox()
    except CourseKitError as error:
        return optional(name, "wrong" if shutil.which("bwrap") else "missing", str(error))
    version = ask(["bwrap", "--version"], ASK_LIMIT_S).output
    return optional(name, "good", f"{version} starts it {'without' if os.getuid() else 'as'} root")
