"""`coursekit kernel`: install kernels for a centre's own JupyterHub."""

import os
from pathlib import Path

import click

from coursekit.cli.shared import PARTITION, SITE
from coursekit.jupyter.kernel import PlannedKernel
from coursekit.jupyter.kernel import install as write
from coursekit.paths import find_root
from coursekit.slurm.sites.load import load_site


@click.group(epilog="Example: coursekit kernel install --site karolina")
def kernel() -> None:
    """Install a Jupyter kernel, so that a centre's own JupyterHub can run the labs."""


@kernel.command(epilog="Example: coursekit kernel install --site jean-zay --partition a100")
@SITE
@PARTITION
@click.option(
    "--prefix",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Install the kernel under DIR/share/jupyter.  [default: in your home folder]",
)
def install(site: str, partition: str | None, prefix: Path | None) -> None:
    """Install a kernel that runs the labs with a machine's software.

    The kernel loads this software as the job scripts do, and starts Python in the course's environment.
    This environment is .venv in the checkout, or the folder that COURSEKIT_VENV names when you install the kernel.
    An existing kernel with the same name is replaced.
    """
    root = find_root()
    venv = os.environ.get("COURSEKIT_VENV", "")
    planned = PlannedKernel(load_site(root, site), partition or "", root, venv and str(Path(venv).absolute()))
    folder = write(planned, prefix)
    click.echo(f"{planned.name}: “{planned.title}” is in {folder}.")
    click.echo("In JupyterLab, choose it for a notebook: Kernel > Change Kernel.")
    click.echo("On a node, run `!coursekit doctor` in a cell to check that the kernel has what the labs need.")
