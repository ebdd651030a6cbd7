"""Make a rank's context: variables that tell Horovod and PyTorch its place among all ranks, and which GPUs it sees."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coursekit.environ import HIDE_GPUS, LAUNCHER_PREFIXES

LOOPBACK, LOOPBACK_INTERFACE = "127.0.0.1", "lo"


@dataclass(frozen=True)
class RankContext:
    """The variables and files with which an MPI launcher tells one rank its place in MPI's world."""

    environ: dict[str, str]
    files: tuple[int, ...] = ()  # open files; the variables contain their numbers


def fill_nodes(num_ranks: int, ranks_per_node: int) -> tuple[int, ...]:
    """Return how many ranks each node gets if nodes are filled one by one: (2, 2, 1) for 5 ranks with 2 per node."""
    return tuple(min(ranks_per_node, num_ranks - first) for first in range(0, num_ranks, ranks_per_node))


def rank_environ(
    *,
    rank: int,
    ranks_on_nodes: Sequence[int],
    rendezvous: tuple[str, int],
    interface: str | None = None,
    controller: str = "gloo",
) -> dict[str, str]:
    """Return the variables from which Horovod's Gloo controller learns the place of `rank` among all ranks.

    Ranks are numbered node by node.
    `horovodrun --gloo` sets the same variables (Horovod 0.28, `horovod/runner/gloo_run.py`).
    With the controller "mpi", Horovod gets its context from MPI, and only the kit reads these variables.
    `rendezvous` is the host and port of the store through which ranks find each other.
    """
    positions = [(node, local) for node, num_ranks in enumerate(ranks_on_nodes) for local in range(num_ranks)]
    node, local_rank = positions[rank]
    # The cross group consists of the ranks with the same local rank: one from each node that has enough ranks.
    peers = [other for other, local in positions if local == local_rank]
    variables = {
        "HOROVOD_RANK": rank,
        "HOROVOD_SIZE": len(positions),
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
    """Change this rank's variables before it joins its peers, so that Horovod takes it for the only rank."""
    controller = os.environ["HOROVOD_CONTROLLER"]
    for name in [name for name in os.environ if name.startswith(LAUNCHER_PREFIXES)]:
        del os.environ[name]
    alone = rank_environ(rank=0, ranks_on_nodes=(1,), rendezvous=rendezvous, controller=controller)
    # Without this, Open MPI 4 would start a daemon for a lone process.
    os.environ.update({**alone, "OMPI_MCA_ess_singleton_isolated": "1"})


def torch_environ(context: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of `rank_environ` under the names that `torch.distributed` reads.

    `torchrun` sets the same variables (PyTorch 2.13, `torch/distributed/elastic/agent/server`).
    """
    names = {
        "RANK": "RANK",
        "WORLD_SIZE": "SIZE",
        "LOCAL_RANK": "LOCAL_RANK",
        "LOCAL_WORLD_SIZE": "LOCAL_SIZE",
        "MASTER_ADDR": "GLOO_RENDEZVOUS_ADDR",
        "MASTER_PORT": "GLOO_RENDEZVOUS_PORT",
        **({"GLOO_SOCKET_IFNAME": "GLOO_IFACE"} if "HOROVOD_GLOO_IFACE" in context else {}),
    }
    # The store is already running; without the last variable, rank 0 would start another store at its port.
    return {name: context[f"HOROVOD_{other}"] for name, other in names.items()} | {
        "TORCHELASTIC_USE_AGENT_STORE": "True"
    }


def gpu_environ(environ: Mapping[str, str], ranks_per_node: int, *, use_gpus: bool | None) -> dict[str, str]:
    """Return the ranks' environment; by default, it hides the GPUs if a node has fewer GPUs than ranks.

    TensorFlow takes nearly all of a GPU's memory at once, so a second rank on the same GPU would fail.
    """
    visible = environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        num_gpus = len(list(Path("/dev").glob("nvidia[0-9]*")))  # without loading CUDA
    else:
        num_gpus = len([name for name in visible.split(",") if name.strip() not in {"", "-1"}])
    wanted = num_gpus >= ranks_per_node if use_gpus is None else use_gpus
    return dict(environ) if wanted else {**environ, **HIDE_GPUS}
