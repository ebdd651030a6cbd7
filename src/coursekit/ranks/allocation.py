"""What the Slurm job around this process offers for ranks, and how `srun` is called in it.

The job script says by variables what only it knows:

- `COURSEKIT_NUM_TASKS`: the tasks of the whole job; `SLURM_NTASKS` has another number inside a job step.
- `COURSEKIT_CONTROLLER`: `gloo` or `mpi`, to overrule what joins ranks; `COURSEKIT_MPI`: how srun prepares MPI.
- `COURSEKIT_INTERFACE`: the network between the nodes.
- `COURSEKIT_SRUN_FLAGS`: further options, such as a container.
"""

from __future__ import annotations

import os
import shutil
import socket

import psutil

from coursekit.ranks.environ import LOOPBACK, LOOPBACK_INTERFACE, host_name_fault
from coursekit.ranks.errors import RankError


def has_tasks_for(num_ranks: int) -> bool:
    """Whether this process is in a Slurm job that has a task for each rank, and `COURSEKIT_RANKS` is not `local`."""
    if os.environ.get("COURSEKIT_RANKS") == "local" or "SLURM_JOB_ID" not in os.environ:
        return False
    return num_ranks <= _num_tasks() and shutil.which("srun") is not None


def joined_by_mpi() -> bool:
    """Whether ranks find each other through MPI: where Horovod was built without Gloo, or where the job wants it."""
    wanted = os.environ.get("COURSEKIT_CONTROLLER")
    return wanted == "mpi" if wanted else not _gloo_is_built()


def _gloo_is_built() -> bool:
    try:
        import horovod.tensorflow as hvd  # notebooks have imported it; scripts may never need it
    except Exception:  # noqa: BLE001  # a broken installation can raise anything; the ranks will explain it
        return True
    return bool(hvd.gloo_built())


def interface() -> str | None:
    """Return the network interface between the nodes, or None to take that of the host's name."""
    return os.environ.get("COURSEKIT_INTERFACE") or (LOOPBACK_INTERFACE if _is_the_only_node() else None)


def _is_the_only_node() -> bool:
    """Whether the job has one node, which is this one; a process in an `salloc` may be elsewhere."""
    return num_nodes() == 1 and os.environ.get("SLURMD_NODENAME") == os.environ.get("SLURM_JOB_NODELIST", "")


def own_address() -> str:
    """Return the address at which tasks on other nodes reach this process.

    Raises:
        RankError: the named interface does not exist here, or this host's name leads nowhere.
    """
    name = interface()
    if name == LOOPBACK_INTERFACE:
        return LOOPBACK
    if name is None:
        if fault := host_name_fault():
            raise RankError(f"{fault}, or set COURSEKIT_INTERFACE to the network interface that joins the nodes")
        return socket.gethostbyname(socket.gethostname())
    addresses = psutil.net_if_addrs()
    found = [str(address.address) for address in addresses.get(name, []) if address.family == socket.AF_INET]
    if not found:
        raise RankError(
            f"COURSEKIT_INTERFACE names {name!r}, but this node's network interfaces with an address are "
            f"{', '.join(sorted(addresses))}: set it to the one that joins the nodes."
        )
    return found[0]


def num_nodes() -> int:
    """Return how many nodes the job has."""
    return int(os.environ.get("SLURM_JOB_NUM_NODES", "1"))


def even_shares(num_ranks: int, num_parts: int) -> tuple[tuple[int, ...], ...]:
    """Return the ranks of each part, in order and as evenly as can be: ((0, 1, 2), (3, 4)) for 5 ranks and 2 parts."""
    least, more = divmod(num_ranks, num_parts)
    firsts = [part * least + min(part, more) for part in range(num_parts + 1)]
    return tuple(tuple(range(first, last)) for first, last in zip(firsts, firsts[1:]))


def srun_command(num_tasks: int, *, by_mpi: bool) -> list[str]:
    """Return the words that start the tasks of a job step, spread over as many nodes as there are.

    It has a task for each rank that MPI joins; else one for each node, which gets the job's cores there.
    """
    mpi = os.environ.get("COURSEKIT_MPI", "") if by_mpi else "none"
    return [
        *("srun", f"--nodes={min(num_nodes(), num_tasks)}", f"--ntasks={num_tasks}", "--distribution=block"),
        *("--overlap", "--kill-on-bad-exit=0", "--export=ALL"),
        *([] if by_mpi else [f"--cpus-per-task={_num_cpus_on_node()}"]),
        *([f"--mpi={mpi}"] if mpi else []),
        *os.environ.get("COURSEKIT_SRUN_FLAGS", "").split(),
    ]


def _num_cpus_on_node() -> int:
    """Return how many CPUs the job has on each of its nodes."""
    return max(1, _num_tasks() // num_nodes()) * int(os.environ.get("SLURM_CPUS_PER_TASK", "1"))


def _num_tasks() -> int:
    return int(os.environ.get("COURSEKIT_NUM_TASKS") or os.environ.get("SLURM_NTASKS", "1"))
