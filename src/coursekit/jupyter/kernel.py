"""A user's kernel: `kernel.json` for Jupyter, and a launcher that loads the same software as the site's job scripts."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path

from jupyter_core.paths import jupyter_data_dir

from coursekit.files import write_file
from coursekit.slurm.jobs.render import templates
from coursekit.slurm.sites.profile import Site

TEMPLATE, LAUNCHER, SPEC = "kernel.sh.j2", "launch.sh", "kernel.json"
MARK = "coursekit"  # marks the kit's kernels in their metadata
READABLE, EXECUTABLE = 0o644, 0o755


@dataclass(frozen=True)
class PlannedKernel:
    """The settings from which a kernel is made."""

    site: Site
    partition: str  # its name in the site's file; the kernel loads its modules; '' for the default
    root: Path  # the absolute path of the course's checkout
    venv: str = ""  # the absolute path of the environment; '' for `.venv` in the checkout

    @property
    def name(self) -> str:
        """The name by which Jupyter knows the kernel."""
        return f"coursekit-{self.site.name}{f'-{self.partition}' if self.partition else ''}".lower()

    @property
    def title(self) -> str:
        """The name that users see in JupyterLab's launcher."""
        other = f", {self.partition}" if self.partition not in {"", self.site.default_partition} else ""
        return f"Course on {self.site.title}{other}"


def install(kernel: PlannedKernel, prefix: Path | None = None) -> Path:
    """Write the kernel for this user, or into `share/jupyter` below `prefix`, and return the kernel's folder.

    Each of the two files is replaced as a whole, the launcher first, and `kernel.json` always calls the launcher in the
    same way. Therefore, a kernel that starts during the installation is either the old or the new one.
    """
    spec = {
        "argv": ["/bin/bash", f"{{resource_dir}}/{LAUNCHER}", "-f", "{connection_file}"],
        "display_name": kernel.title,
        "language": "python",
        # If Ctrl-C came as a signal, it would reach only the program that starts the container; srun does not pass on
        # the first signal.
        "interrupt_mode": "message" if kernel.site.software.container else "signal",
        "metadata": {
            "debugger": True,
            MARK: {"site": kernel.site.name, "partition": kernel.partition or kernel.site.default_partition},
        },
    }
    data = prefix.absolute() / "share" / "jupyter" if prefix else Path(jupyter_data_dir())
    folder = data / "kernels" / kernel.name
    write_file(folder / LAUNCHER, launcher(kernel).encode(), EXECUTABLE)
    write_file(folder / SPEC, f"{json.dumps(spec, indent=1)}\n".encode(), READABLE)
    return folder


def launcher(kernel: PlannedKernel) -> str:
    """Return the launcher's text, which is made from the same parts as job scripts.

    An error is raised if the site does not have the kernel's partition.
    """
    site = kernel.site
    partition = kernel.partition or site.default_partition
    return (
        templates(kernel.root)
        .get_template(TEMPLATE)
        .render(
            site=site,
            name=kernel.name,
            partition=partition,
            modules=(*site.software.modules, *site.partition(partition).modules),
            root=shlex.quote(str(kernel.root)),
            venv=shlex.quote(kernel.venv) if kernel.venv else "",
        )
    )
