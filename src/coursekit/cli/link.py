"""`coursekit link`."""

from __future__ import annotations

import click

from coursekit.jupyter.link import pull_link
from coursekit.labs.lab import select_labs
from coursekit.paths import find_root


@click.command(epilog="Example: coursekit link --hub https://hub.example.org --repo https://git.example.org/course 02")
@click.option("--hub", required=True, help="The hub's address.")
@click.option("--repo", required=True, help="The address of the students' git repository, which holds labs/.")
@click.option("--branch", default="main", show_default=True, help="Its branch.")
@click.argument("lab", required=False)
def link(hub: str, repo: str, branch: str, lab: str | None) -> None:
    """Print a link that fetches labs/ into a student's folder on a JupyterHub and opens it, or one LAB's notebook.

    The hub's servers need nbgitpuller. Opened again, the link brings what is new and keeps what the student wrote.
    """
    name = select_labs(find_root(), [lab])[0].name if lab else None
    click.echo(pull_link(hub, repo, branch, name))
