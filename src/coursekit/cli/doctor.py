"""The command `coursekit doctor`."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from coursekit.slurm.doctor.doctor import examine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coursekit.slurm.doctor.findings import Finding

STYLES = {"good": "green", "missing": "yellow", "wrong": "bold red"}


def table(findings: Sequence[Finding]) -> Table:
    """Return the findings as a table: what was found, and below it what to do."""
    result = Table(box=box.SIMPLE_HEAD)
    result.add_column("looked at", no_wrap=True)
    result.add_column("state", no_wrap=True)
    result.add_column("found, and what to do", overflow="fold")
    for finding in findings:
        style = "dim" if finding.state == "missing" and not finding.needed else STYLES[finding.state]
        remedy = f"\n[dim]→ {escape(finding.remedy)}[/]" if finding.remedy else ""
        result.add_row(finding.name, f"[{style}]{finding.state}[/]", escape(finding.text) + remedy)
    return result


def show(findings: Sequence[Finding], *, as_json: bool) -> bool:
    """Print findings as a table or as JSON, and return whether nothing that the labs need is missing or wrong."""
    hindrances = [finding.name for finding in findings if finding.hinders]
    if as_json:
        click.echo(
            json.dumps({"ready": not hindrances, "findings": [asdict(finding) for finding in findings]}, indent=1)
        )
    else:
        Console().print(table(findings))
        click.echo(
            f"Fix first: {', '.join(hindrances)}." if hindrances else "Ready: nothing that the labs need is missing."
        )
    return not hindrances


@click.command(epilog="Example: coursekit doctor --json > doctor.json")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON instead of a table.")
def doctor(as_json: bool) -> None:
    """Check everything the labs run on, from versions to an allreduce between two ranks.

    The exit status is 0 when nothing that the labs need is missing or wrong, and 1 otherwise.
    What only some sites have (MPI, GPUs, Slurm) may be missing.
    """
    progress = Console(stderr=True)
    with progress.status("looking …") as status:
        findings = list(examine(lambda subject: status.update(f"looking at {subject} …")))
    sys.exit(0 if show(findings, as_json=as_json) else 1)
