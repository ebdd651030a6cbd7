"""The kernels that are installed, and where their launchers write what went wrong."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError

if TYPE_CHECKING:
    from collections.abc import Mapping

MARK = "coursekit"


def user_kernels() -> Path:
    """Return the folder of a person's own kernels."""
    from jupyter_core.paths import jupyter_data_dir  # noqa: PLC0415  # `coursekit --help` needs no Jupyter

    return Path(jupyter_data_dir()) / "kernels"


def kernels_of_prefix(prefix: Path) -> Path:
    """Return the folder of kernels of an environment or a tree that JUPYTER_PATH names with `share/jupyter`."""
    return prefix.absolute() / "share" / "jupyter" / "kernels"


def our_kernels() -> Mapping[str, Path]:
    """Return the folders of the kernels that `coursekit kernel install` wrote and Jupyter finds, by name."""
    from jupyter_client.kernelspec import KernelSpecManager  # noqa: PLC0415

    found = KernelSpecManager().get_all_specs()
    return {
        name: Path(entry["resource_dir"])
        for name, entry in sorted(found.items())
        if MARK in entry["spec"].get("metadata", {})
    }


def choose(name: str | None) -> str:
    """Return the name of an installed kernel: the one that is named, else our only one.

    Raises:
        CourseKitError: no such kernel is installed, none of ours is, or several are.
    """
    from jupyter_client.kernelspec import KernelSpecManager  # noqa: PLC0415

    if name is not None:
        known = KernelSpecManager().find_kernel_specs()
        if name not in known:
            raise CourseKitError(f"there is no kernel {name!r}: Jupyter finds {', '.join(sorted(known)) or 'none'}.")
        return name
    ours = list(our_kernels())
    if not ours:
        raise CourseKitError("there is no kernel of the course: coursekit kernel install --site NAME makes one.")
    if len(ours) > 1:
        raise CourseKitError(f"there are several kernels of the course, name one: {', '.join(ours)}.")
    return ours[0]


def log_file(name: str) -> Path:
    """Return where the launcher of a kernel writes, as `slurm/templates/kernel.sh.j2` has it."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "coursekit" / f"{name}.log"
