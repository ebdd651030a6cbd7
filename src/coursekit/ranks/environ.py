"""The environment of ranks, their kernels and Slurm's commands: what must not leak in, and what Horovod needs."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from coursekit.processes import MARK

# Variables of a surrounding launcher. A program started with them believes to be a part of that launcher's job:
# mpirun refuses to start inside mpirun, and a lone process takes itself for rank 3 of 8.
LAUNCHER_PREFIXES = ("HOROVOD_", "OMPI_", "PMIX_", "PMI_", "PMI2_", "PRTE_", "HYDRA_", "MPI_LOCAL")  # Open MPI, MPICH

# Variables that turn TensorFlow 2 into another one. TF_CONFIG makes an Estimator a worker of some other cluster.
# TF_USE_LEGACY_KERAS is not among them: the package decides on it when it is imported (`coursekit/__init__.py`).
TENSORFLOW_PREFIXES = ("TF_CONFIG", "TF2_BEHAVIOR", "KERAS_BACKEND", "TF_KERAS")

LOOPBACK, LOOPBACK_INTERFACE = "127.0.0.1", "lo"

HIDE_GPUS = {"CUDA_VISIBLE_DEVICES": "-1"}


def scrubbed(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a copy of the environment without what a launcher has set, and without what makes another TensorFlow."""
    source = os.environ if environ is None else environ
    unwanted = (*LAUNCHER_PREFIXES, *TENSORFLOW_PREFIXES)
    return {name: value for name, value in source.items() if not name.startswith(unwanted)}


def host_name_fault() -> str:
    """Return in words what keeps Horovod and other nodes from finding this machine by its name, or ''."""
    name = socket.gethostname()
    try:
        address = socket.gethostbyname(name)
    except OSError:
        return f"the host name {name!r} does not resolve: add '127.0.1.1 {name}' to /etc/hosts"
    try:
        with socket.socket() as probe:
            probe.bind((address, 0))
    except OSError:
        return f"the host name {name!r} resolves to {address}, which is no address of this machine: see /etc/hosts"
    return ""


def kernel_environment(folder: Path) -> dict[str, str]:
    """Return this process's environment for a kernel: without launchers' variables, marked with its folder."""
    # A profile of its own: start-up files of the person who runs the lab must not change its result.
    return {**scrubbed(), MARK: str(folder), "IPYTHONDIR": str(folder / ".ipython")}


def fill_nodes(num_ranks: int, ranks_per_node: int) -> tuple[int, ...]:
    """Return how many ranks each node gets when nodes are filled one after the other: (2, 2, 1) for 5 ranks by 2."""
    return tuple(min(ranks_per_node, num_ranks - first) for first in range(0, num_ranks, ranks_per_node))


def rank_environ(
    *,
    rank: int,
    ranks_on_nodes: Sequence[int],
    rendezvous: tuple[str, int],
    interface: str | None = None,
    controller: str = "gloo",
) -> dict[str, str]:
    """Return the variables from which Horovod's Gloo controller learns its place; ranks are numbered node by node.

    The names are those that `horovodrun --gloo` sets (Horovod 0.28, `horovod/runner/gloo_run.py`).
    With the controller "mpi" Horovod asks MPI for its place, and the kit alone reads these.
    `rendezvous` is host and port of the store in which ranks find each other.
    """
    places = [(node, local) for node, num_ranks in enumerate(ranks_on_nodes) for local in range(num_ranks)]
    node, local_rank = places[rank]
    # The cross group holds the ranks with the same local rank, one of each node that has so many.
    peers = [other for other, local in places if local == local_rank]
    variables = {
        "HOROVOD_RANK": rank,
        "HOROVOD_SIZE": len(places),
        "HOROVOD_LOCAL_RANK": local_rank,
        "HOROVOD_LOCAL_SIZE": ranks_on_nodes[node],
        "HOROVOD_CROSS_RANK": peers.index(node),
        "HOROVOD_CROSS_SIZE": len(peers),
        "HOROVOD_HOSTNAME": f"node{node}",
        "HOROVOD_CONTROLLER": controller,
        "HOROVOD_CPU_OPERATIONS": controller,
        "HOROVOD_GLOO_RENDEZVOUS_ADDR": rendezvous[0],
        "HOROVOD_GLOO_RENDEZVOUS_PORT": rendezvous[1],
        **({} if interface is None else {"HOROVOD_GLOO_IFACE": interface}),
    }
    return {name: str(value) for name, value in variables.items()}


def leave_peers(rendezvous: tuple[str, int]) -> None:
    """Make this rank, before it joins the others, one that Horovod joins with nobody."""
    controller = os.environ["HOROVOD_CONTROLLER"]
    for name in [name for name in os.environ if name.startswith(LAUNCHER_PREFIXES)]:
        del os.environ[name]
    alone = rank_environ(rank=0, ranks_on_nodes=(1,), rendezvous=rendezvous, controller=controller)
    # Open MPI 4 would start a daemon for a lone process.
    os.environ.update({**alone, "OMPI_MCA_ess_singleton_isolated": "1"})


def torch_environ(place: Mapping[str, str]) -> dict[str, str]:
    """Return a place of `rank_environ` by the names from which `torch.distributed` learns it.

    The names are those that `torchrun` sets (PyTorch 2.13, `torch/distributed/elastic/agent/server`).
    """
    names = {
        "RANK": "RANK",
        "WORLD_SIZE": "SIZE",
        "LOCAL_RANK": "LOCAL_RANK",
        "LOCAL_WORLD_SIZE": "LOCAL_SIZE",
        "MASTER_ADDR": "GLOO_RENDEZVOUS_ADDR",
        "MASTER_PORT": "GLOO_RENDEZVOUS_PORT",
        **({"GLOO_SOCKET_IFNAME": "GLOO_IFACE"} if "HOROVOD_GLOO_IFACE" in place else {}),
    }
    # The store serves already: otherwise rank 0 would start one at this port.
    return {name: place[f"HOROVOD_{other}"] for name, other in names.items()} | {"TORCHELASTIC_USE_AGENT_STORE": "True"}


def gpu_environ(environ: Mapping[str, str], ranks_per_node: int, *, use_gpus: bool | None) -> dict[str, str]:
    """Return the environment of ranks: GPUs are hidden when not wanted, or when there is not one for each rank.

    TensorFlow takes nearly all memory of a GPU at once, so a second rank on the same GPU fails.
    """
    visible = environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        num_gpus = len(list(Path("/dev").glob("nvidia[0-9]*")))  # without loading CUDA
    else:
        num_gpus = len([name for name in visible.split(",") if name.strip() not in {"", "-1"}])
    wanted = num_gpus >= ranks_per_node if use_gpus is None else use_gpus
    return dict(environ) if wanted else {**environ, **HIDE_GPUS}


# Which of the caller's Slurm variables reach Slurm's own commands. Nearly every option of every command has a variable,
# so that what is set for one purpose changes another: what a job inherits from a job around it, how times are shown,
# whose jobs are listed, what a step may know of its environment. Hence none passes but those that are listed below.
OF_SLURM = (
    *("SLURM_", "SLURMD_", "SRUN_", "SBATCH_", "SALLOC_", "SQUEUE_", "SACCT_", "SCONTROL_", "SINFO_", "SCANCEL_"),
    "COURSEKIT_STEP",
)
# Where the controller is, and how one proves who one is.
EVERYWHERE = ("SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_CLUSTERS", "SLURM_JWT", "SLURM_SACK_JWKS", "SLURM_SACK_KEY")
# Who pays for a new job, where it runs, and how much it gets: people set these on purpose.
FOR_SBATCH = (
    *("SBATCH_ACCOUNT", "SBATCH_QOS", "SBATCH_RESERVATION", "SBATCH_PARTITION", "SBATCH_CLUSTERS", "SBATCH_WCKEY"),
    *("SBATCH_CONSTRAINT", "SBATCH_TIMELIMIT", "SBATCH_GPUS_PER_NODE", "SBATCH_MEM_PER_NODE"),
)
# The job in which a step starts; its cores, which are whole ones where it has a hint; how sites start MPI.
FOR_SRUN = (
    *("SLURM_JOBID", "SLURM_HINT", "SLURM_THREADS_PER_CORE", "SRUN_CPUS_PER_TASK"),
    *("SLURM_MPI_TYPE", "SLURM_NETWORK"),
)
FOR_SRUN_PREFIXES = ("SLURM_JOB_", "SLURM_PMIX_")


def slurm_environ(also: tuple[str, ...] = (), prefixes: tuple[str, ...] = ()) -> dict[str, str]:
    """Return this process's environment for commands that ask Slurm: without launchers, and few of Slurm's variables.

    `also` and `prefixes` name those that pass besides: `FOR_SBATCH` for a new job, `FOR_SRUN` and its prefixes for a
    step of the job around this process, without options of a step that this process may be a task of.
    """
    names = {*EVERYWHERE, *also}
    return {
        name: value
        for name, value in scrubbed().items()
        if not name.startswith(OF_SLURM) or name in names or name.startswith(prefixes)
    }
