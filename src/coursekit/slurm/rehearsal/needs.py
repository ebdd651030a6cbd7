"""What a rehearsal needs of the machine: root, and Debian's packages."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.slurm.rehearsal.software import module_names, option_names

if TYPE_CHECKING:
    from coursekit.slurm.sites.profile import Site

# By package of Debian, one program or file of it.
ALWAYS = {
    "slurm-wlm": "slurmctld",
    "slurmdbd": "slurmdbd",
    "munge": "munged",
    "mariadb-server": "mariadb-install-db",
    "util-linux": "unshare",
}
FOR_MODULES = {"lmod": "/etc/profile.d/lmod.sh"}
FOR_OPTIONS = {"gcc": "gcc", "libslurm-dev": "/usr/include/slurm/spank.h"}


def check_needs(site: Site) -> None:
    """Refuse to start where a rehearsal of this site cannot work.

    Raises:
        CourseKitError: not root, or programs are missing; the message names their packages.
    """
    needed = {**ALWAYS, **(FOR_MODULES if module_names(site) else {}), **(FOR_OPTIONS if option_names(site) else {})}
    missing = [package for package, what in needed.items() if not _is_there(what)]
    if missing:
        raise CourseKitError(
            f"a rehearsal of {site.name} needs Debian's {', '.join(missing)}: apt install {' '.join(missing)}."
        )
    if os.geteuid() != 0:
        raise CourseKitError("a rehearsal needs root, to give each node a name and processes of its own: use sudo.")


def _is_there(what: str) -> bool:
    return Path(what).exists() if what.startswith("/") else shutil.which(what) is not None
