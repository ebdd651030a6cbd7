"""`coursekit kernel`: install, check and list kernels for a centre's own JupyterHub."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from coursekit.jupyter.kernels.installed import choose, kernels_of_prefix, log_file, our_kernels, user_kernels
from coursekit.paths import find_root


@click.group(epilog="Example: coursekit kernel install --site karolina")
def kernel() -> None:
    """Kernels with which a centre's own JupyterHub runs the labs."""


@kernel.command(epilog="Example: coursekit kernel install --site jean-zay --partition a100")
@click.option("--site", "site_name", required=True, help="The machine: a name that coursekit sites lists.")
@click.option("--partition", default="", help="Whose modules to load; the site's default without it.")
@click.option("--name", default="", help="The kernel's name for Jupyter; coursekit-SITE without it.")
@click.option("--user", "for_user", is_flag=True, help="For yourself, in your home folder; so it is without --prefix.")
@click.option("--prefix", type=click.Path(path_type=Path), help="Below share/jupyter/kernels in this folder instead.")
def install(site_name: str, partition: str, name: str, for_user: bool, prefix: Path | None) -> None:
    """Write a kernel that loads the site's software as its job scripts do, and runs with the course's environment.

    The environment is .venv in the checkout, or what COURSEKIT_VENV names now.
    A kernel of that name is replaced.
    """
    # The templates' engine is loaded only here.
    from coursekit.jupyter.kernels.install import install as write  # noqa: PLC0415
    from coursekit.jupyter.kernels.install import plan_kernel  # noqa: PLC0415
    from coursekit.slurm.sites.load import load_site  # noqa: PLC0415

    if for_user and prefix:
        raise click.UsageError("--user and --prefix exclude each other.")
    root = find_root()
    planned = plan_kernel(root, load_site(root, site_name), partition, name, os.environ.get("COURSEKIT_VENV", ""))
    folder = write(planned, kernels_of_prefix(prefix) if prefix else user_kernels())
    click.echo(f"{planned.name}: “{planned.title}” is in {folder}.")
    click.echo("In JupyterLab, choose it for a notebook: Kernel > Change Kernel.")
    click.echo(f"On a node, see whether it works: coursekit kernel check {planned.name}")


@kernel.command(epilog="Example: coursekit kernel check coursekit-karolina --json")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON instead of a table.")
@click.option("--timeout", "timeout_s", default=120, show_default=True, help="Seconds that it may take to start.")
def check(name: str | None, as_json: bool, timeout_s: int) -> None:
    """Start a kernel as JupyterLab does, ask it what it has, let two ranks add numbers from it, and stop it.

    Without NAME, it is the only kernel of the course that is installed.
    The exit status is 0 when nothing that the labs need is missing or wrong, and 1 otherwise.
    """
    from coursekit.cli.doctor import show  # noqa: PLC0415
    from coursekit.jupyter.kernels.check import examine  # noqa: PLC0415

    chosen = choose(name)
    ready = show(examine(chosen, timeout_s), as_json=as_json)
    if not as_json and log_file(chosen).exists():
        click.echo(f"What its launcher said last: {log_file(chosen)}")
    sys.exit(0 if ready else 1)


@kernel.command("list", epilog="Example: coursekit kernel list")
def list_() -> None:
    """List the kernels of the course that Jupyter finds here, with their folders."""
    for name, folder in our_kernels().items():
        click.echo(f"{name}\t{folder}")
