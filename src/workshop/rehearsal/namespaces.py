"""Run daemons and their jobs in namespaces, so that none of them outlives a rehearsal.

All processes of a rehearsal are in one PID namespace. When its first process ends, the kernel kills all others,
whatever they do to protect themselves, and removes their mounts. The first process waits on a pipe whose other end
the rehearsing process holds, so it also notices if that process is killed.
Each node is a nested PID namespace with its own host name and its own /dev/shm, so a whole node can go down at once.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from coursekit.errors import CourseKitError
from coursekit.processes import plain_environment

UNSHARE = ("unshare", "--mount", "--uts", "--pid", "--fork", "--mount-proc", "--kill-child")
END_TIMEOUT_S = 120.0  # on a busy machine

# `read` returns when the other end of the pipe is closed.
FIRST_PROCESS = """
set -e
mount --bind {hosts} /etc/hosts
hostname {name}
echo ready
read -r _ || true
kill -KILL -1 2>/dev/null || true
for _ in 1 2 3 4 5; do rm -rf --one-file-system {folder} && break; sleep 0.2; done
"""

# The shell stays as the namespace's first process, and reaps the processes that jobs leave behind.
NODE = """
hostname {name}
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
{command} &
wait $!
"""


class Namespaces:
    """The namespaces of one rehearsal, and the daemons in them.

    Args:
        folder: the private folder, removed at the end.
        name: the host name that the daemons see.
        hosts: the file that they see as /etc/hosts.
    """

    def __init__(self, folder: Path, name: str, hosts: Path) -> None:
        script = FIRST_PROCESS.format(folder=shlex.quote(str(folder)), name=name, hosts=shlex.quote(str(hosts)))
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._holder = subprocess.Popen(
            [*UNSHARE, "bash", "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=plain_environment(),
            cwd="/",
            start_new_session=True,  # Ctrl-C goes to the rehearsing process, which ends the others in order
        )
        try:
            self._wait_until_ready()
            self._first = psutil.Process(self._holder.pid).children()[0].pid
        except BaseException:
            self.close()
            raise

    def _wait_until_ready(self) -> None:
        said = self._holder.stdout.readline() if self._holder.stdout else b""
        if said != b"ready\n":
            reason = self._holder.stderr.read().decode().strip() if self._holder.stderr else ""
            raise CourseKitError(
                f"the rehearsal cannot make namespaces on this machine: {reason or 'no reason given'}."
            )

    def start(self, name: str, command: Sequence[str], log: Path, variables: Mapping[str, str] | None = None) -> None:
        """Start a daemon in the foreground, and append what it prints to its log."""
        enter = ("nsenter", f"--target={self._first}", "--mount", "--uts", "--pid", "--")
        with log.open("ab") as output:
            self._daemons[name] = subprocess.Popen(
                [*enter, *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**plain_environment(), **(variables or {})},
                cwd="/",
                start_new_session=True,
            )

    def start_node(self, name: str, command: Sequence[str], log: Path, variables: Mapping[str, str]) -> None:
        """Start a node's daemon in a separate namespace."""
        script = NODE.format(name=name, command=shlex.join(command))
        self.start(name, [*UNSHARE, "bash", "-c", script], log, variables)

    def ended(self) -> list[str]:
        """Return the names of daemons that have ended by themselves."""
        return [name for name, process in self._daemons.items() if process.poll() is not None]

    def kill(self, name: str) -> None:
        """Kill a daemon and, if it is a node's, all processes on the node."""
        daemon = self._daemons.pop(name)
        for process in psutil.Process(daemon.pid).children():
            with suppress(psutil.NoSuchProcess):  # it has ended in the meantime
                process.kill()
        daemon.wait(END_TIMEOUT_S)

    def close(self) -> None:
        """End every process and mount, and remove the folder; safe to call twice."""
        if self._holder.stdin:
            self._holder.stdin.close()
        try:
            self._holder.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._holder.kill()
            self._holder.wait()
        for stream in (self._holder.stdout, self._holder.stderr):
            if stream:
                stream.close()
        while self._daemons:
            self._daemons.popitem()[1].wait(END_TIMEOUT_S)
