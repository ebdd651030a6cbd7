"""The command `coursekit doctor`."""

import sys
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from coursekit.cli.shared import JSON_FILE
from coursekit.files import write_json
from coursekit.slurm.doctor import examine

STYLES = {"good": "green", "missing": "yellow", "wrong": "bold red"}


@click.command(epilog="Example: coursekit doctor --json doctor.json")
@JSON_FILE
def doctor(json_file: Path | None) -> None:
    """Check whether this machine has everything that the labs need.

    The checks range from package versions to an allreduce between 2 ranks.
    GPUs, Slurm and the grading sandbox may be missing; the labs run without them.
    Exit status: 0 if nothing that the labs need is missing or wrong, else 1.
    """
    with Console(stderr=True).status("checking …") as status:
        findings = list(examine(lambda subject: status.update(f"checking {subject} …")))
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("check", no_wrap=True)
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
