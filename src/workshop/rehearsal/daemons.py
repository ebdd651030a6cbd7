"""Start the daemons of a rehearsal one after another, each when the one before is ready."""

from __future__ import annotations

import os
import pwd
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from coursekit.corrected_time import start_up
from coursekit.errors import CourseKitError
from coursekit.processes import plain_environment
from coursekit.slurm.jobs import slurm_cli
from workshop.rehearsal.namespaces import Namespaces
from workshop.rehearsal.shape import ClusterShape
from workshop.rehearsal.slurm_files import (
    DATABASE_SOCKET,
    LOOPBACK,
    MUNGE_SOCKET,
    Ports,
    round_after_slurmctld,
    rounds_before_slurmctld,
)

START_TIMEOUT_S = 60.0
COMMAND_TIMEOUT_S = 300.0
CONNECT_TIMEOUT_S = 1.0
POLL_S = 0.05
READY_STATES = {"idle", "mixed", "allocated"}
DATABASE_OPTIONS = (
    *("--no-defaults", "--user=root"),
    # The data last only as long as the rehearsal, so nothing is written twice or waited for.
    *("--innodb-log-file-size=8M", "--innodb-flush-method=nosync", "--innodb-flush-log-at-trx-commit=0"),
    "--innodb-use-native-aio=0",  # the whole machine has only a limited number of these
)


@dataclass(frozen=True)
class Daemons:
    """The daemons of one rehearsal, in separate namespaces."""

    shape: ClusterShape  # which nodes and accounts there are
    folder: Path  # where their files are, which are already written
    ports: Ports  # where they listen, on loopback
    environ: Mapping[str, str]  # variables with which Slurm's commands find them
    namespaces: Namespaces

    def start(self) -> None:
        """Start all daemons, and wait until every node accepts jobs.

        Raises:
            CourseKitError: one did not start; the message quotes its log.
        """
        self._start_munged()
        self._start_database()
        variables = {**self.environ, "MYSQL_UNIX_PORT": str(self.folder / DATABASE_SOCKET)}
        self._start("slurmdbd", ["slurmdbd", "-D"], lambda: _answers(self.ports.slurmdbd), variables)
        for commands in rounds_before_slurmctld(self.shape, pwd.getpwuid(os.getuid()).pw_name):
            self._account(commands)
        self._start("slurmctld", ["slurmctld", "-D"], lambda: _answers(self.ports.slurmctld), variables)
        self._account(round_after_slurmctld(self.shape))
        for node in self.shape.all_nodes:
            self.namespaces.start_node(node, ["slurmd", "-D", "-N", node], self._log(node), self.environ)
        words = ("--Node", "--noheader", "--format=%T")
        self._wait("a node", lambda: set(self.call("sinfo", *words).split()) <= READY_STATES)

    def call(self, *command: str) -> str:
        """Run one of Slurm's commands and return what it prints.

        Raises:
            SlurmError: it failed, or gave no answer.
        """
        return slurm_cli.call(*command, environ={**plain_environment(), **self.environ}, timeout_s=COMMAND_TIMEOUT_S)

    def _start_munged(self) -> None:
        socket_file = self.folder / MUNGE_SOCKET
        files = {"key-file": "key", "log-file": "log", "pid-file": "pid", "seed-file": "seed", "socket": "socket"}
        options = [f"--{option}={socket_file.with_name(name)}" for option, name in files.items()]
        self._start("munged", ["munged", "--foreground", *options], socket_file.exists)

    def _start_database(self) -> None:
        data, address = self.folder / "database", self.folder / DATABASE_SOCKET
        # A starting server deletes the temporary tables that it finds; in /tmp, they could be another rehearsal's.
        options = [*DATABASE_OPTIONS, f"--datadir={data}", f"--tmpdir={data}-tmp"]
        log = self._log("mariadb")
        with log.open("ab") as output:
            install = ["mariadb-install-db", *options, "--auth-root-authentication-method=normal", "--skip-test-db"]
            made = subprocess.run(
                install, check=False, stdout=output, stderr=output, env=plain_environment(), timeout=COMMAND_TIMEOUT_S
            )
        if made.returncode:
            said = [line for line in log.read_text(errors="replace").splitlines() if "ERROR" in line]
            words = f"MariaDB's data folder could not be made (exit code {made.returncode}):"
            raise CourseKitError(" ".join([words, *said]))
        command = ["mariadbd", *options, "--skip-networking", f"--socket={address}", f"--pid-file={data}/pid"]
        self._start("mariadb", command, address.exists)

    def _start(
        self,
        name: str,
        command: Sequence[str],
        is_there: Callable[[], bool],
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.namespaces.start(name, command, self._log(name), variables)
        self._wait(name, is_there)

    def _account(self, commands: Sequence[Sequence[str]]) -> None:
        """Run sacctmgr commands at the same time, because each takes tenths of a second and mostly waits."""
        with ThreadPoolExecutor() as threads:
            list(threads.map(lambda command: self.call("sacctmgr", "--immediate", *command), commands))

    def _log(self, daemon: str) -> Path:
        return self.folder / "logs" / f"{daemon}.log"

    def _wait(self, name: str, is_there: Callable[[], bool]) -> None:
        deadline = start_up(START_TIMEOUT_S)
        while not is_there():
            for ended in self.namespaces.ended():
                said = " ".join(self._log(ended).read_text(errors="replace").strip().splitlines()[-2:])
                raise CourseKitError(f"{ended} of the rehearsal's Slurm did not start: {said}", "rehearsal.no-start")
            if not deadline.left_s():
                raise CourseKitError(
                    f"{name} of the rehearsal's Slurm was not ready after {START_TIMEOUT_S:g} s.", "rehearsal.late"
                )
            time.sleep(POLL_S)


def _answers(port: int) -> bool:
    try:
        socket.create_connection((LOOPBACK, port), timeout=CONNECT_TIMEOUT_S).close()
    except OSError:
        return False
    return True
