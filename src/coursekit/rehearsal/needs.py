"""What a rehearsal needs of the machine: root, and Debian's packages."""

from __future__ import annotations

import os
import shutil

from coursekit.errors import CourseKitError

# By program, the package of Debian that has it.
PROGRAMS = {
    "slurmctld": "slurm-wlm",
    "slurmd": "slurm-wlm",
    "sbatch": "slurm-wlm",
    "slurmdbd": "slurmdbd",
    "munged": "munge",
    "mariadbd": "mariadb-server",
    "unshare": "util-linux",
}


def check_needs() -> None:
    """Refuse to start where a rehearsal cannot work.

    Raises:
        CourseKitError: not root, or programs are missing; the message names their packages.
    """
    missing = sorted({package for program, package in PROGRAMS.items() if shutil.which(program) is None})
    if missing:
        raise CourseKitError(
            f"a rehearsal needs Debian's packages {', '.join(missing)}: apt install {' '.join(missing)}."
        )
    if os.geteuid() != 0:
        raise CourseKitError("a rehearsal needs root, to give each node a name and processes of its own: use sudo.")
