"""Start ranks that join through MPI: each takes over the context that a launcher has created for another process.

An MPI library learns its rank, and where its launcher listens, from what the launcher passes to the process:
environment variables and, for PMI, an open file. So `mpirun`, or `srun` in a job step, starts a stub for each rank
(`mpi_stub.py`). The stub passes the variables and the file on to the server that forks the ranks, so that the ranks
start with TensorFlow already imported.

Example: for 4 ranks on 2 simulated nodes, `mpirun -np 4 --host 127.0.0.2:2,127.0.0.3:2 … mpi_stub.py NAME` starts four
stubs. Rank 2's stub sends OMPI_COMM_WORLD_RANK=2 and PMIX_SERVER_URI41=…, among other variables. A child of the server
has these variables in its environment when it calls `hvd.init`, and so becomes rank 2, on the second node.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NoReturn

from coursekit.environ import LAUNCHER_PREFIXES
from coursekit.errors import CourseKitError
from coursekit.processes import has_ended
from coursekit.ranks import mpi_stub
from coursekit.ranks.context import LOOPBACK_INTERFACE, RankContext

OPEN_MPI = "Open MPI"
# Variables in which Open MPI, MPICH and srun tell a stub its rank.
RANKS = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")
HANDED_ON = (*LAUNCHER_PREFIXES, "SLURM")
OTHER_LAUNCHERS = ("SLURM", "PBS_", "LSB_", "PE_HOSTFILE")  # these would tell mpirun about other machines
STUBS_TIMEOUT_S = 60.0  # time for all stubs to connect; they import hardly anything
POLL_S = 0.1
MAX_VERSION_BYTES = 8192  # MPI_MAX_LIBRARY_VERSION_STRING of MPICH; in Open MPI, it is 256
CREDENTIALS = struct.Struct("iII")  # process, user and group of a peer
NUM_LENGTH_BYTES = 8
NO_MPIRUN = "put the mpirun of the MPI that Horovod was built with on the PATH (on a cluster, load its module)"

# Each rank stores PMIx's data about its peers in its own memory: with shared memory, which is PMIx's default, a launch
# on simulated nodes reported errors from PMIx's dstore.
OWN_MEMORY = {"PMIX_MCA_gds": "hash"}
# Ranks on one machine use its loopback interface, because a sandbox has no other network and no shared memory. No rank
# is bound to a core. If there are more ranks than cores, a waiting rank must not keep its core from the others.
LOCAL_SETTINGS = {
    # Open MPI 4 and 5
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,tcp",
    "OMPI_MCA_btl_tcp_if_include": LOOPBACK_INTERFACE,
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "HWLOC_COMPONENTS": "no_os,stop",  # a sandbox has no /sys; nothing is bound, so only the number of cores matters
    **OWN_MEMORY,
    # Open MPI 4
    "OMPI_MCA_oob_tcp_if_include": LOOPBACK_INTERFACE,
    "OMPI_MCA_rmaps_base_mapping_policy": "slot:OVERSUBSCRIBE",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    # Open MPI 5
    "PRTE_MCA_prte_if_include": LOOPBACK_INTERFACE,
    "PRTE_MCA_rmaps_default_mapping_policy": "slot:OVERSUBSCRIBE",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    # MPICH
    "FI_PROVIDER": "tcp",
    "FI_TCP_IFACE": LOOPBACK_INTERFACE,
    "HYDRA_IFACE": LOOPBACK_INTERFACE,
} | {f"{launcher}_ALLOW_RUN_AS_ROOT{again}": "1" for launcher in ("OMPI", "PRTE") for again in ("", "_CONFIRM")}


def library() -> str:
    """Return the name and version of the MPI library that Horovod has loaded, such as "Open MPI v4.1.4, package: …"."""
    import horovod.tensorflow as hvd  # the caller has already imported it

    file = next(Path(hvd.__file__).parent.glob("mpi_lib*.so"))
    text, length = ctypes.create_string_buffer(MAX_VERSION_BYTES), ctypes.c_int()
    ctypes.CDLL(str(file)).MPI_Get_library_version(text, ctypes.byref(length))
    return text.value.decode(errors="replace")


def mpirun() -> str | None:
    """Return the path of `mpirun`: next to this Python, as in an inactive conda environment, or else on the PATH."""
    return shutil.which("mpirun", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}")


def become_launcher(name: str, ranks_on_nodes: Sequence[int]) -> NoReturn:
    """Replace this process by an `mpirun` whose stubs connect to `name`; if there are several nodes, simulate them.

    Raises:
        CourseKitError: there is no `mpirun`.
    """
    environ = {**os.environ, **LOCAL_SETTINGS, "TMPDIR": tempfile.gettempdir()}
    environ = {name: value for name, value in environ.items() if not name.startswith(OTHER_LAUNCHERS)}
    launcher = mpirun()
    if launcher is None:
        raise CourseKitError(f"this Horovod joins ranks by MPI, but there is no mpirun: {NO_MPIRUN}", "mpi.no-mpirun")
    words = [launcher, "-np", str(sum(ranks_on_nodes))]
    if len(ranks_on_nodes) > 1:
        # Use addresses, because a name server might take a long time to answer that it does not know a made-up name.
        hosts = ",".join(f"127.0.0.{node + 2}:{num_ranks}" for node, num_ranks in enumerate(ranks_on_nodes))
        words += ["--host" if library().startswith(OPEN_MPI) else "-hosts", hosts]
        agent = _no_ssh()
        environ |= {"OMPI_MCA_plm_rsh_agent": agent, "PRTE_MCA_plm_ssh_agent": agent}
        environ |= {"HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": agent}
    os.execve(launcher, [*words, sys.executable, "-IS", mpi_stub.__file__, name], environ)  # noqa: S606  # no shell is needed


NO_SSH = """\
#!/bin/sh
while case $1 in -*) ;; *) false ;; esac do shift; done # options
shift # the host
TMPDIR=$(mktemp -d) && export TMPDIR
exec sh -c "$*"
"""


def _no_ssh() -> str:
    """Write a program that is called like `ssh` but runs the command on this machine, and return the program's path.

    Each node's daemon gets its own temporary folder, because the daemons would create the same files in a shared one.
    """
    path = Path(tempfile.gettempdir(), "no-ssh")
    path.write_text(NO_SSH)
    path.chmod(0o700)
    return str(path)


def new_name() -> str:
    """Return a new name for a listener."""
    return f"coursekit-{secrets.token_hex(8)}"


class StubListener(AbstractContextManager["StubListener"]):
    """Listens under a name for the stubs of this machine's ranks; `stubs` holds the connections, which stay open."""

    def __init__(self, name: str = "") -> None:
        self.name = name or new_name()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(f"\0{self.name}")  # not in a folder, because an isolated launcher cannot see our folders
        self._listener.listen(socket.SOMAXCONN)
        self._listener.settimeout(POLL_S)
        self.stubs: list[int] = []  # file numbers

    def fileno(self) -> int:
        """Return the file number of the listening socket, for children that must close it."""
        return self._listener.fileno()

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def accept(self, ranks: Collection[int], launcher: int) -> dict[int, RankContext]:
        """Wait for the stubs of these ranks, and return each rank's context.

        `launcher` is the process ID of our own `mpirun`, or 0 if `srun` starts the stubs.

        Raises:
            CourseKitError: the launcher has ended or does not belong to Horovod's MPI, or the time is up.
        """
        contexts: dict[int, RankContext] = {}
        end_s = time.monotonic() + STUBS_TIMEOUT_S
        while not {*ranks} <= contexts.keys():
            if (launcher and has_ended(launcher)) or time.monotonic() > end_s:
                raise CourseKitError("MPI's launcher has started no ranks", "mpi.no-ranks")
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            _, user, _ = CREDENTIALS.unpack(
                connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
            )
            if user != os.getuid():  # any account on this machine can connect
                connection.close()
                continue
            connection.settimeout(STUBS_TIMEOUT_S)
            rank, context = _receive(connection)
            contexts[rank] = context
            self.stubs.append(connection.detach())
        return contexts


def _receive(connection: socket.socket) -> tuple[int, RankContext]:
    """Return a stub's rank, and the context that it sends."""
    head, files, _, _ = socket.recv_fds(connection, NUM_LENGTH_BYTES, 1)
    with connection.makefile("rb") as rest:
        words = rest.read(int(head)).split(b"\0")
    found = dict(os.fsdecode(word).split("=", 1) for word in words)
    if library().startswith(OPEN_MPI) and "PMIX_RANK" not in found:
        raise CourseKitError(
            "Horovod's MPI here is Open MPI, which this launcher does not know: use the mpirun of the same Open MPI, "
            "or srun with pmix (SLURM_MPI_TYPE)",
            "mpi.other-launcher",
        )
    environ = {name: value for name, value in found.items() if name.startswith(HANDED_ON) or name in LOCAL_SETTINGS}
    if files:
        environ[mpi_stub.PMI_FILE] = str(files[0])  # the file has another number in this process
    return next(int(found[name]) for name in RANKS if name in found), RankContext(environ, tuple(files))
