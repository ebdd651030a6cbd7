"""A private Slurm: munged, MariaDB, slurmdbd, slurmctld and one slurmd per node, all on loopback in one folder.

Nothing of a Slurm, munge or MariaDB that is configured on the machine is read or written.

    with Cluster(load_site(root, "karolina")) as cluster:
        subprocess.run(["sbatch", "--wait", "job.sbatch"], env={**os.environ, **cluster.environ}, check=True)
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import stat
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.rehearsal import container, slurm_files
from coursekit.rehearsal.accounting import round_after_slurmctld, rounds_before_slurmctld
from coursekit.rehearsal.modules import write_modules
from coursekit.rehearsal.needs import check_needs
from coursekit.rehearsal.sandbox import Sandbox, plain_environment
from coursekit.rehearsal.shape import shape_of
from coursekit.rehearsal.slurm_files import CLUSTER_NAME, LOOPBACK, Places, Ports

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from coursekit.sites.profile import Site

PREFIX = "coursekit-rehearsal-"
STEP_TIMEOUT_S = 60.0
COMMAND_TIMEOUT_S = 60.0
POLL_S = 0.05
DEV_NULL = os.makedev(1, 3)
TASK_PROLOG = """#!/bin/sh
echo "export TMPDIR={folder}/tmp-$SLURMD_NODENAME"
# Between these nodes, Open MPI talks over loopback, which it would leave out.
echo "export OMPI_MCA_btl_tcp_if_include=lo"
"""
DATABASE_OPTIONS = (
    *("--no-defaults", "--user=root"),
    # The data last as long as the rehearsal: nothing is written twice or waited for.
    *("--innodb-log-file-size=8M", "--innodb-flush-method=nosync", "--innodb-flush-log-at-trx-commit=0"),
)


class Cluster:
    """A running Slurm, shaped like a site, for a `with` block.

    Args:
        site: the machine to be shaped like.
        num_nodes: nodes of each kind; partitions that share their nodes share these.

    Attributes:
        environ: variables with which `sbatch`, `squeue`, `sacct` and the like talk to this Slurm.
        nodes: by partition's key, the names of its nodes.
        folder: the private folder, which is removed at the end.

    Raises:
        CourseKitError: on entering: programs or rights are missing, or a daemon did not start.
    """

    def __init__(self, site: Site, num_nodes: int = 2) -> None:
        self.site = site
        self.shape = shape_of(site, num_nodes)
        self.nodes: Mapping[str, tuple[str, ...]] = self.shape.nodes
        self.environ: dict[str, str] = {}
        self.folder = Path()
        self._places = Places(self.folder)
        self._sandbox: Sandbox | None = None

    def __enter__(self) -> Cluster:
        check_needs(self.site)
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._places = Places(self.folder)
        try:
            self._write_files()
            self._sandbox = Sandbox(self.folder, CLUSTER_NAME, self._places.hosts)
            self._start_daemons(self._sandbox)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop every daemon and job and remove the folder; safe to call twice."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None
        if self.folder.name.startswith(PREFIX):
            shutil.rmtree(self.folder, ignore_errors=True)

    def fail(self, node: str) -> None:
        """Let a node go down as if its power failed: all that runs on it is gone, and Slurm is told."""
        self._running().kill(node)
        self.call("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=rehearsed failure")

    def bring_back(self, node: str) -> None:
        """Start a failed node again, and wait until it takes jobs."""
        self._start_node(node)
        self._wait(f"node {node}", lambda: _answers(self._ports.slurmd[node]))
        self.call("scontrol", "update", f"NodeName={node}", "State=RESUME")
        self._wait_for_nodes([node])

    def call(self, *command: str) -> str:
        """Run one of Slurm's commands on this Slurm and return what it prints.

        Raises:
            CourseKitError: it failed.
        """
        done = subprocess.run(
            command,
            env={**os.environ, **self.environ},
            capture_output=True,
            text=True,
            check=False,
            timeout=COMMAND_TIMEOUT_S,
        )
        if done.returncode:
            raise CourseKitError(f"{' '.join(command)} failed: {(done.stderr or done.stdout).strip()}")
        return done.stdout

    def _running(self) -> Sandbox:
        if self._sandbox is None:
            raise CourseKitError("this rehearsal's Slurm does not run: use it inside its `with` block.")
        return self._sandbox

    def _write_files(self) -> None:
        places, shape = self._places, self.shape
        self.folder.chmod(0o755)  # jobs of any user come through here
        for name in ("munge", "logs", "slurmctld", "database", *(f"tmp-{node}" for node in shape.all_nodes)):
            (self.folder / name).mkdir(mode=0o755)
        for node in shape.all_nodes:
            (self.folder / f"tmp-{node}").chmod(0o1777)
        for number in range(max(kind.num_gpus_per_node for kind in self.site.partitions.values())):
            os.mknod(places.gpu(number), stat.S_IFCHR | 0o666, DEV_NULL)
        key = self.folder / "munge" / "key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        ports = _free_ports(2 + len(shape.all_nodes))
        self._ports = Ports(ports[0], ports[1], dict(zip(shape.all_nodes, ports[2:])))
        places.hosts.write_text(slurm_files.hosts(shape))
        places.slurm_conf.write_text(slurm_files.slurm_conf(shape, places, self._ports))
        (self.folder / "gres.conf").write_text(slurm_files.gres_conf(shape, places))
        (self.folder / "plugstack.conf").write_text(container.plugstack(self.site, self.folder))
        slurmdbd_conf = self.folder / "slurmdbd.conf"
        slurmdbd_conf.touch(mode=0o600)  # slurmdbd refuses one that others may read
        slurmdbd_conf.write_text(slurm_files.slurmdbd_conf(places, self._ports))
        prolog = self.folder / "task-prolog"
        prolog.write_text(TASK_PROLOG.format(folder=self.folder))
        prolog.chmod(0o755)
        self.environ = {
            "SLURM_CONF": str(places.slurm_conf),
            "SBATCH_ACCOUNT": shape.default_account,
            "COURSEKIT_INTERFACE": "lo",
            **write_modules(self.site, places.modules),
        }

    def _start_daemons(self, sandbox: Sandbox) -> None:
        self._start_munged(sandbox)
        self._start_database(sandbox)
        daemon = {"SLURM_CONF": str(self._places.slurm_conf), "MYSQL_UNIX_PORT": str(self._places.database_socket)}
        sandbox.start("slurmdbd", ["slurmdbd", "-D"], self._places.log("slurmdbd"), daemon)
        self._wait("slurmdbd", lambda: _answers(self._ports.slurmdbd))
        for commands in rounds_before_slurmctld(self.shape, pwd.getpwuid(os.getuid()).pw_name):
            self._account(commands)
        sandbox.start("slurmctld", ["slurmctld", "-D"], self._places.log("slurmctld"), daemon)
        self._wait("slurmctld", lambda: _answers(self._ports.slurmctld))
        self._account(round_after_slurmctld(self.shape))
        for node in self.shape.all_nodes:
            self._start_node(node)
        self._wait_for_nodes(self.shape.all_nodes)

    def _account(self, commands: list[list[str]]) -> None:
        """Run commands of sacctmgr at the same time: each takes tenths of a second, most of it in waiting."""
        with ThreadPoolExecutor() as threads:
            list(threads.map(lambda command: self.call("sacctmgr", "--immediate", *command), commands))

    def _start_munged(self, sandbox: Sandbox) -> None:
        folder = self.folder / "munge"
        files = {"key-file": "key", "log-file": "log", "pid-file": "pid", "seed-file": "seed", "socket": "socket"}
        options = [f"--{option}={folder / name}" for option, name in files.items()]
        sandbox.start("munged", ["munged", "--foreground", *options], self._places.log("munged"))
        self._wait("munged", self._places.munge_socket.exists)

    def _start_database(self, sandbox: Sandbox) -> None:
        data, log = self.folder / "database", self._places.log("mariadb")
        options = [*DATABASE_OPTIONS, f"--datadir={data}"]
        install = ["mariadb-install-db", "--auth-root-authentication-method=normal", "--skip-test-db"]
        with log.open("ab") as output:
            subprocess.run(
                [install[0], *options, *install[1:], "--skip-name-resolve"],
                check=True,
                stdout=output,
                stderr=output,
                env=plain_environment(),
                timeout=COMMAND_TIMEOUT_S,
            )
        socket_file = self._places.database_socket
        sandbox.start(
            "mariadb",
            ["mariadbd", *options, "--skip-networking", f"--socket={socket_file}", f"--pid-file={data}/pid"],
            log,
        )
        self._wait("mariadb", socket_file.exists)

    def _start_node(self, node: str) -> None:
        log = self._places.log(f"slurmd-{node}")
        self._running().start_node(node, ["slurmd", "-D", "-N", node], log, {"SLURM_CONF": self.environ["SLURM_CONF"]})

    def _wait_for_nodes(self, nodes: tuple[str, ...] | list[str]) -> None:
        def all_idle() -> bool:
            states = self.call("sinfo", "--Node", "--noheader", f"--nodes={','.join(nodes)}", "--format=%T").split()
            return set(states) <= {"idle", "mixed", "allocated"}

        self._wait("the nodes", all_idle)

    def _wait(self, name: str, is_there: Callable[[], bool]) -> None:
        """Wait until a daemon is there, and quote its log when it has ended."""
        deadline = time.monotonic() + STEP_TIMEOUT_S
        while not is_there():
            ended = self._running().ended()
            if ended:
                raise CourseKitError(f"{ended[0]} did not start: {_tail(self._places.log(ended[0]))}")
            if time.monotonic() > deadline:
                raise CourseKitError(f"{name} did not start within {STEP_TIMEOUT_S:g} s: see why with --keep.")
            time.sleep(POLL_S)


def _free_ports(num_ports: int) -> list[int]:
    """Return ports that nobody listens on now; all are held together, so that none comes twice."""
    sockets = [socket.create_server((LOOPBACK, 0)) for _ in range(num_ports)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _answers(port: int) -> bool:
    try:
        socket.create_connection((LOOPBACK, port), timeout=1.0).close()
    except OSError:
        return False
    return True


def _tail(log: Path, num_characters: int = 800) -> str:
    return log.read_text(errors="replace").strip()[-num_characters:]
