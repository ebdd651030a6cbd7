"""The context of a rank: where it is among all ranks, and its GPUs, as variables of Horovod and PyTorch."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coursekit.environ import HIDE_GPUS, LAUNCHER_PREFIXES

LOOPBACK, LOOPBACK_INTERFACE = "127.0.0.1", "lo"


@dataclass(frozen=True)
class RankContext:
    """What a launcher of MPI gave to one rank, so that the rank knows where it is in MPI's world."""

    environ: dict[str, str]
    files: tuple[int, ...] = ()  # open ones, whose numbers are in these variables


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
    """Return the variables from which Horovod's Gloo controller learns its context; ranks are numbered node by node.

    The names are those that `horovodrun --gloo` sets (Horovod 0.28, `horovod/runner/gloo_run.py`).
    With the controller "mpi" Horovod asks MPI for its context, and the kit alone reads these.
    `rendezvous` is host and port of the store in which ranks find each other.
    """
    positions = [(node, local) for node, num_ranks in enumerate(ranks_on_nodes) for local in range(num_ranks)]
    node, local_rank = positions[rank]
    # The cross group holds the ranks with the same local rank, one of each node that has so many.
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
    """Make this rank, before it joins the others, one that Horovod joins with nobody."""
    controller = os.environ["HOROVOD_CONTROLLER"]
    for name in [name for name in os.environ if name.startswith(LAUNCHER_PREFIXES)]:
        del os.environ[name]
    alone = rank_environ(rank=0, ranks_on_nodes=(1,), rendezvous=rendezvous, controller=controller)
    # Open MPI 4 would start a daemon for a lone process.
    os.environ.update({**alone, "OMPI_MCA_ess_singleton_isolated": "1"})


def torch_environ(context: Mapping[str, str]) -> dict[str, str]:
    """Return what `rank_environ` returns by the names from which `torch.distributed` learns its context.

    The names are those that `torchrun` sets (PyTorch 2.13, `torch/distributed/elastic/agent/server`).
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
    # The store serves already: otherwise rank 0 would start one at this port.
    return {name: context[f"HOROVOD_{other}"] for name, other in names.items()} | {
        "TORCHELASTIC_USE_AGENT_STORE": "True"
    }


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
