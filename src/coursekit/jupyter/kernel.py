"""A user's kernel: `kernel.json` for Jupyter, and the launcher that takes the steps of the site's job scripts."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from jupyter_core.paths import jupyter_data_dir

from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.slurm.jobs.render import templates
from coursekit.slurm.sites.profile import Site

TEMPLATE, LAUNCHER, SPEC = "kernel.sh.j2", "launch.sh", "kernel.json"
MARK = "coursekit"  # in the metadata of kernels that are ours
# Stricter than Jupyter's own rule: the name is a folder, a part of an address, and a word of the launcher.
NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")
READABLE, EXECUTABLE = 0o644, 0o755


@dataclass(frozen=True)
class PlannedKernel:
    """What a kernel is made from.

    Attributes:
        partition: whose modules it loads, a name in the site's file.
        name: by which Jupyter knows it.
        root: the course's checkout, an absolute path.
        venv: the environment, an absolute path; '' for `.venv` in the checkout.
    """

    site: Site
    partition: str
    name: str
    root: Path
    venv: str = ""

    @property
    def title(self) -> str:
        """What people see in JupyterLab's launcher."""
        other = "" if self.partition == self.site.default_partition else f", {self.partition}"
        return f"Course on {self.site.title}{other}"


def plan_kernel(root: Path, site: Site, partition: str, name: str, venv: str = "") -> PlannedKernel:
    """Return a kernel for names as people type them; '' stands for the default.

    Raises:
        CourseKitError: the site has no such partition, or the name is not safe.
    """
    chosen = partition or site.default_partition
    site.kind(chosen)
    usual = f"coursekit-{site.name}" + (f"-{partition}" if partition else "")
    wanted = name or usual.lower()
    if not NAME.fullmatch(wanted):
        raise CourseKitError(
            f"{wanted!r} is not a name for a kernel: use small letters, digits, dots and hyphens, such as {usual}."
        )
    return PlannedKernel(site, chosen, wanted, root.resolve(), str(Path(venv).absolute()) if venv else "")


def install(kernel: PlannedKernel, prefix: Path | None = None) -> Path:
    """Write the kernel for this user, or below `share/jupyter` of an environment, and return its folder there.

    Each of its two files is replaced whole, the launcher first, and `kernel.json` never changes how it is called:
    a kernel that starts meanwhile is the old one or the new one.
    """
    spec = {
        "argv": ["/bin/bash", f"{{resource_dir}}/{LAUNCHER}", "-f", "{connection_file}"],
        "display_name": kernel.title,
        "language": "python",
        # Ctrl-C would reach srun, which does not pass the first one on to the container.
        "interrupt_mode": "message" if kernel.site.software.srun_options else "signal",
        "metadata": {"debugger": True, MARK: {"site": kernel.site.name, "partition": kernel.partition}},
    }
    data = prefix.absolute() / "share" / "jupyter" if prefix else Path(jupyter_data_dir())
    folder = data / "kernels" / kernel.name
    write_file(folder / LAUNCHER, launcher(kernel).encode(), EXECUTABLE)
    write_file(folder / SPEC, f"{json.dumps(spec, indent=1)}\n".encode(), READABLE)
    return folder


def launcher(kernel: PlannedKernel) -> str:
    """Return the text of the launcher, from the same parts as job scripts."""
    site = kernel.site
    return (
        templates(kernel.root)
        .get_template(TEMPLATE)
        .render(
            site=site,
            name=kernel.name,
            partition=kernel.partition,
            modules=(*site.software.modules, *site.partitions[kernel.partition].modules),
            root=shlex.quote(str(kernel.root)),
            venv=shlex.quote(kernel.venv) if kernel.venv else "",
        )
    )
