"""The environment of ranks and their kernels: what must not leak in, and what Horovod needs to find its peers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.processes import MARK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Variables of a surrounding launcher. A program started with them believes to be a part of that launcher's job:
# mpirun refuses to start inside mpirun, and a lone process takes itself for rank 3 of 8.
LAUNCHER_PREFIXES = ("HOROVOD_", "OMPI_", "PMIX_", "PMI_", "PMI2_", "PRTE_", "HYDRA_")

# What `gloo_environ` sets on every rank, and what would make Horovod look for its place elsewhere.
PLACE_PREFIXES = (
    *("HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_", "HOROVOD_CROSS_", "HOROVOD_HOSTNAME", "HOROVOD_ELASTIC"),
    *("HOROVOD_CONTROLLER", "HOROVOD_CPU_OPERATIONS", "HOROVOD_GLOO_RENDEZVOUS_", "HOROVOD_GLOO_IFACE"),
    *(prefix for prefix in LAUNCHER_PREFIXES if prefix != "HOROVOD_"),
)

LOOPBACK = "127.0.0.1"

HIDE_GPUS = {"CUDA_VISIBLE_DEVICES": "-1"}

# For ranks whose place MPI knows.
MPI_ENVIRON = {"HOROVOD_CONTROLLER": "mpi", "HOROVOD_CPU_OPERATIONS": "mpi"}


def scrubbed(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a copy of the environment without the variables of a surrounding launcher."""
    source = os.environ if environ is None else environ
    return {name: value for name, value in source.items() if not name.startswith(LAUNCHER_PREFIXES)}


def kernel_environment(folder: Path) -> dict[str, str]:
    """Return this process's environment for a kernel: without launchers' variables, marked with its folder."""
    # A profile of our own: start-up files of the person who runs the lab must not change its result.
    return {**scrubbed(), MARK: str(folder), "IPYTHONDIR": str(folder / ".ipython")}


def refuse_placing(environ: Mapping[str, str]) -> None:
    """Refuse extra variables for ranks that are not text, or that say where a rank belongs, which is our own business.

    Raises:
        TypeError: a name or a value is not text.
        ValueError: a variable places ranks.
    """
    for name, value in environ.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"environ holds {name!r}: {value!r}, but both must be text, as in {{'{name}': '{value}'}}")
        if name.startswith(PLACE_PREFIXES):
            raise ValueError(f"environ may not hold {name}: it tells a rank its place, which ranks.run does itself")


def fill_nodes(num_ranks: int, ranks_per_node: int) -> tuple[int, ...]:
    """Return how many ranks each node gets when nodes are filled one after the other: (2, 2, 1) for 5 ranks by 2."""
    return tuple(min(ranks_per_node, num_ranks - first) for first in range(0, num_ranks, ranks_per_node))


def gloo_environ(
    *, rank: int, ranks_on_nodes: Sequence[int], rendezvous: tuple[str, int], interface: str | None = None
) -> dict[str, str]:
    """Return the variables from which Horovod's Gloo controller learns its place.

    The names are those that `horovodrun --gloo` sets (Horovod 0.28, `horovod/runner/gloo_run.py`).

    Args:
        rank: the rank to place; ranks are numbered node by node.
        ranks_on_nodes: how many ranks each node has.
        rendezvous: host and port of the store in which ranks find each other.
        interface: the network interface to use.
    """
    node, local_rank = 0, rank
    while local_rank >= ranks_on_nodes[node]:
        local_rank -= ranks_on_nodes[node]
        node += 1
    # The cross group holds the ranks with the same local rank, one of each node that has so many.
    peers = [other for other, num_ranks in enumerate(ranks_on_nodes) if num_ranks > local_rank]
    variables = {
        "HOROVOD_RANK": rank,
        "HOROVOD_SIZE": sum(ranks_on_nodes),
        "HOROVOD_LOCAL_RANK": local_rank,
        "HOROVOD_LOCAL_SIZE": ranks_on_nodes[node],
        "HOROVOD_CROSS_RANK": peers.index(node),
        "HOROVOD_CROSS_SIZE": len(peers),
        "HOROVOD_HOSTNAME": f"node{node}",
        "HOROVOD_CONTROLLER": "gloo",
        "HOROVOD_CPU_OPERATIONS": "gloo",
        "HOROVOD_GLOO_RENDEZVOUS_ADDR": rendezvous[0],
        "HOROVOD_GLOO_RENDEZVOUS_PORT": rendezvous[1],
    }
    if interface is not None:
        variables["HOROVOD_GLOO_IFACE"] = interface
    return {name: str(value) for name, value in variables.items()}


def num_gpus(environ: Mapping[str, str], devices: Path = Path("/dev")) -> int:
    """Return the number of NVIDIA GPUs that a process with this environment may use, without loading CUDA."""
    visible = environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return len(list(devices.glob("nvidia[0-9]*")))
    return len([name for name in visible.split(",") if name.strip() not in {"", "-1"}])


def gpu_environ(environ: Mapping[str, str], ranks_per_node: int, *, use_gpus: bool | None) -> dict[str, str]:
    """Return the environment of ranks: GPUs are hidden when not wanted, or when there is not one for each rank.

    TensorFlow takes nearly all memory of a GPU at once, so a second rank on the same GPU fails.
    """
    wanted = num_gpus(environ) >= ranks_per_node if use_gpus is None else use_gpus
    return dict(environ) if wanted else {**environ, **HIDE_GPUS}
