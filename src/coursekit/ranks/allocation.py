"""The Slurm job that this process belongs to: its tasks, nodes and network, and the commands for its job steps.

The job script uses these variables to pass on facts that only it knows:

- `COURSEKIT_NUM_TASKS`: the number of tasks in the whole job; inside a job step, `SLURM_NTASKS` differs from it.
- `COURSEKIT_INTERFACE`: the network interface that connects the nodes.
- `COURSEKIT_SRUN_FLAGS`: further options for srun, followed by the prefix that runs a command in this container.
- `SLURM_MPI_TYPE`, which is Slurm's own: how ranks that join through MPI find each other (`srun --mpi=list`).
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys

import psutil

from coursekit.environ import host_name_fault, slurm_environ
from coursekit.ranks import mpi_stub
from coursekit.ranks.context import LOOPBACK, LOOPBACK_INTERFACE
from coursekit.ranks.explain import RankError


def has_tasks_for(num_ranks: int) -> bool:
    """Return whether this process is in a Slurm job with a task for each rank; False if `COURSEKIT_RANKS` is `local`.

    If `srun` is missing on a single node, return False, because ranks can start without it. If it is missing on several
    nodes, `JobStep` raises an error.
    """
    if os.environ.get("COURSEKIT_RANKS") == "local" or "SLURM_JOB_ID" not in os.environ:
        return False
    return num_ranks <= _num_tasks() and (num_nodes() > 1 or shutil.which("srun") is not None)


def interface() -> str | None:
    """Return the network interface that connects the nodes, or None for the interface that the host name belongs to."""
    # A process started by `salloc` may run on a machine that is not a node of its job.
    is_only_node = num_nodes() == 1 and os.environ.get("SLURMD_NODENAME") == os.environ.get("SLURM_JOB_NODELIST", "")
    return os.environ.get("COURSEKIT_INTERFACE") or (LOOPBACK_INTERFACE if is_only_node else None)


def own_address() -> str:
    """Return the address at which tasks on other nodes reach this process; raise a `RankError` if there is none."""
    name = interface()
    if name == LOOPBACK_INTERFACE:
        return LOOPBACK
    if name is None:
        if fault := host_name_fault():
            raise RankError(
                f"{fault}, or set COURSEKIT_INTERFACE to the network interface that connects the nodes",
                "host-name.unusable",
            )
        return socket.gethostbyname(socket.gethostname())
    addresses = psutil.net_if_addrs()
    found = [str(address.address) for address in addresses.get(name, []) if address.family == socket.AF_INET]
    if not found:
        raise RankError(
            f"COURSEKIT_INTERFACE is {name!r}, but the network interfaces with an address on this node are "
            f"{', '.join(sorted(addresses))}: set it to the one that connects the nodes.",
            "interface.unknown",
        )
    return found[0]


def num_nodes() -> int:
    """Return the number of nodes in the job."""
    return int(os.environ.get("SLURM_JOB_NUM_NODES", "1"))


def srun_command() -> list[str]:
    """Return the command for a job step with one task per node; each task gets all of the job's cores on its node."""
    num_cpus = max(1, _num_tasks() // num_nodes()) * int(os.environ.get("SLURM_CPUS_PER_TASK", "1"))
    return [
        *("srun", f"--nodes={num_nodes()}", f"--ntasks={num_nodes()}", "--distribution=block"),
        *("--overlap", "--kill-on-bad-exit=0", "--export=ALL", f"--cpus-per-task={num_cpus}", "--mpi=none"),
        *os.environ.get("COURSEKIT_SRUN_FLAGS", "").split(),
    ]


def stubs_command(num_ranks: int, name: str) -> list[str]:
    """Return the command that starts one MPI stub per rank (see `mpi`) on the nodes listed in `SLURM_HOSTFILE`."""
    return [
        *("srun", f"--ntasks={num_ranks}", "--distribution=arbitrary", "--overlap", "--kill-on-bad-exit=0"),
        *("--export=ALL", "--cpus-per-task=1", "--gres=none", f"--mpi={os.environ.get('SLURM_MPI_TYPE', 'pmix')}"),
        *os.environ.get("COURSEKIT_SRUN_FLAGS", "").split(),
        *(sys.executable, "-IS", mpi_stub.__file__, name),
    ]


def _num_tasks() -> int:
    return int(os.environ.get("COURSEKIT_NUM_TASKS") or os.environ.get("SLURM_NTASKS", "1"))


def nodes() -> list[str]:
    """Return the names of the job's nodes."""
    shown = ["scontrol", "show", "hostnames", os.environ["SLURM_JOB_NODELIST"]]
    return subprocess.run(shown, capture_output=True, text=True, check=False, env=slurm_environ()).stdout.split()
