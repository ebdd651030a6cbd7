"""A private Slurm: munged, MariaDB, slurmdbd, slurmctld and one slurmd per node, all on loopback in one folder.

It neither reads nor writes any file of a Slurm, munge or MariaDB that is configured on the machine.

    with Cluster(load_site(root, "karolina")) as cluster:
        subprocess.run(["sbatch", "--wait", "job.sbatch"], env={**os.environ, **cluster.environ}, check=True)
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from coursekit.errors import CourseKitError
from coursekit.paths import socket_folder
from coursekit.slurm.sites.profile import Site
from workshop.rehearsal.daemons import Daemons
from workshop.rehearsal.files import hold_ports, module_names, option_names, write_files
from workshop.rehearsal.namespaces import Namespaces
from workshop.rehearsal.shape import shape_of
from workshop.rehearsal.slurm_files import CLUSTER_NAME, HOSTS

PREFIX = "coursekit-rehearsal-"
NUM_SOCKET_BYTES = 59  # that slurmd and its steps append to the folder's path
NUM_RANDOM = 8  # characters that tempfile adds
# For each Debian package, one of its programs or files.
ALWAYS = {
    "slurm-wlm": "slurmctld",
    "slurmdbd": "slurmdbd",
    "munge": "munged",
    "mariadb-server": "mariadb-install-db",
    "util-linux": "unshare",
}
FOR_MODULES = {"lmod": "/etc/profile.d/lmod.sh"}
FOR_OPTIONS = {"gcc": "gcc", "libslurm-dev": "/usr/include/slurm/spank.h"}


class Cluster:
    """A running Slurm, shaped like a site, for a `with` block.

    Args:
        site: the machine whose shape it takes.
        num_nodes: nodes of each kind; partitions that share nodes on the machine also share them here.

    Attributes:
        site: as given.
        environ: variables with which `sbatch`, `squeue`, `sacct` and other commands reach this Slurm.
        nodes: the names of each partition's nodes, by partition key.
        folder: the private folder, which is removed at the end.

    Raises:
        CourseKitError: on entering: programs or rights are missing, or a daemon did not start.
    """

    def __init__(self, site: Site, num_nodes: int = 2) -> None:
        self.site = site
        self._shape = shape_of(site, num_nodes)
        self.nodes: Mapping[str, tuple[str, ...]] = self._shape.nodes
        self.environ: dict[str, str] = {}
        self.folder = Path()
        self._daemons: Daemons | None = None
        self._opened = ExitStack()

    def __enter__(self) -> Cluster:  # noqa: PYI034  # typing has Self from Python 3.11 on
        check_needs(self.site)
        with ExitStack() as stack:
            self.folder = _make_folder()
            stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
            ports, block = hold_ports(self._shape)
            stack.enter_context(block)
            self.environ = write_files(self._shape, self.folder, ports)
            namespaces = Namespaces(self.folder, CLUSTER_NAME, self.folder / HOSTS)
            stack.callback(namespaces.close)
            daemons = Daemons(self._shape, self.folder, ports, self.environ, namespaces)
            daemons.start()
            self._daemons, self._opened = daemons, stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop every daemon and job and remove the folder; safe to call twice."""
        self._daemons = None
        self._opened.close()

    def fail(self, node: str) -> None:
        """Take a node down as if its power had failed: all its processes are killed, and Slurm marks it down."""
        if self._daemons is not None:
            self._daemons.namespaces.kill(node)
        self.call("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=rehearsed failure")

    def call(self, *command: str) -> str:
        """Run one of Slurm's commands on this Slurm and return what it prints.

        Raises:
            CourseKitError: it failed, or this Slurm is not running.
        """
        if self._daemons is None:
            raise CourseKitError(
                "this rehearsal's Slurm is not running: use it inside its `with` block.", "rehearsal.not-running"
            )
        return self._daemons.call(*command)


def _make_folder() -> Path:
    parent = socket_folder(len(f"/{PREFIX}") + NUM_RANDOM + NUM_SOCKET_BYTES)
    return Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))


def check_needs(site: Site) -> None:
    """Raise an error if a rehearsal of this site cannot work on this machine.

    Raises:
        CourseKitError: not root, or programs are missing; the message names their packages.
    """
    needed = {**ALWAYS, **(FOR_MODULES if module_names(site) else {}), **(FOR_OPTIONS if option_names(site) else {})}
    missing = [package for package, what in needed.items() if not _is_there(what)]
    if missing:
        raise CourseKitError(
            f"a rehearsal of {site.name} needs Debian's {', '.join(missing)}: apt install {' '.join(missing)}.",
            "rehearsal.packages",
        )
    if os.geteuid() != 0:
        raise CourseKitError(
            "a rehearsal needs root, to give each node its own name and processes: use sudo.", "rehearsal.root"
        )


def _is_there(what: str) -> bool:
    return Path(what).exists() if what.startswith("/") else shutil.which(what) is not None
