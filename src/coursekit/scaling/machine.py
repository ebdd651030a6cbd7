"""Machines: the links and speeds of GPUs that sites have, and what an allreduce costs on them, by the way it takes.

Every formula is of the form latency times messages plus bytes over bandwidth (R. W. Hockney, 1994).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.toml_files import MAY_BE_EMPTY

GPUS = Path(__file__).with_name("gpus.toml")
GBIT_PER_GBYTE = 8
MICROSECOND, GIGABYTE = 1e-6, 1e9


@dataclass(frozen=True)
class Link:
    """What one rank, or one node, sends at most, while it receives as much; and what a message costs besides."""

    gbyte_per_s: float
    latency_us: float

    @property
    def latency_s(self) -> float:
        """Seconds that a message takes, however short it is."""
        return self.latency_us * MICROSECOND

    def seconds(self, num_bytes: float) -> float:
        """Return how long so many bytes take, without the latency."""
        return num_bytes / (self.gbyte_per_s * GIGABYTE)

    def slowed(self, efficiency: float) -> Link:
        """Return the link with this bandwidth efficiency."""
        return replace(self, gbyte_per_s=efficiency * self.gbyte_per_s)


@dataclass(frozen=True)
class Machine:
    """Nodes of equal GPUs."""

    within: Link  # the link of a GPU to the others of its node
    between: Link  # the link of a node to the other nodes, which its ranks share
    num_ranks_per_node: int  # ranks, and GPUs, of a full node

    def num_nodes(self, num_ranks: int) -> int:
        """Return how many nodes so many ranks fill; the last one may stay partly empty."""
        return math.ceil(num_ranks / self.num_ranks_per_node)

    def slowed(self, within: float, between: float) -> Machine:
        """Return the machine with these bandwidth efficiencies of its links."""
        return replace(self, within=self.within.slowed(within), between=self.between.slowed(between))


def ring(machine: Machine, num_ranks: int, num_bytes: float) -> float:
    """Return the seconds of a ring through all ranks, node by node, so that each node sends as much as each rank.

    2 (N - 1) steps, each of an N-th of the bytes (Patarasuk and Yuan, 2009). Two of each node's steps leave the node
    per round: NCCL counts latencies so, in `src/graph/tuning.cc`.
    """
    num_nodes = machine.num_nodes(num_ranks)
    num_steps = 2 * (num_ranks - 1)
    num_between = 2 * (num_nodes - 1)
    latency = num_between * machine.between.latency_s + (num_steps - num_between) * machine.within.latency_s
    return latency + max(link.seconds(num_steps * num_bytes / num_ranks) for link in _used(machine, num_ranks))


def tree(machine: Machine, num_ranks: int, num_bytes: float) -> float:
    """Return the seconds of a double binary tree between nodes with chains in them, up and down again.

    Both trees send half of the bytes at full bandwidth (Sanders, Speck and Träff, 2009; NCCL since 2.4).
    """
    num_nodes = machine.num_nodes(num_ranks)
    per_node = min(num_ranks, machine.num_ranks_per_node)
    chain = (per_node - 1) * machine.within.latency_s
    latency = 2 * (chain + math.ceil(math.log2(num_nodes)) * machine.between.latency_s)
    return latency + max((link.seconds(2 * num_bytes) for link in _used(machine, num_ranks)), default=0.0)


def fastest(machine: Machine, num_ranks: int, num_bytes: float) -> float:
    """Return the seconds of the ring or of the tree, whichever is faster: NCCL chooses so."""
    return min(ring(machine, num_ranks, num_bytes), tree(machine, num_ranks, num_bytes))


def parameter_servers(machine: Machine, num_ranks: int, num_bytes: float) -> float:
    """Return the seconds until all nodes have sent gradients to the servers, one on each node, and have read weights.

    A node sends (n - 1)/n of the bytes as a worker and as many as a server, and each server answers every other node.
    The ranks of a node add up first, on their own links.
    """
    num_nodes = machine.num_nodes(num_ranks)
    per_node = min(num_ranks, machine.num_ranks_per_node)
    one_node = Machine(machine.within, machine.between, per_node)
    between = 2 * (num_nodes - 1) * (machine.between.latency_s + machine.between.seconds(num_bytes / num_nodes))
    return between + (ring(one_node, per_node, num_bytes) if per_node > 1 else 0.0)


WAYS: dict[str, Callable[[Machine, int, float], float]] = {
    "ring": ring,
    "tree": tree,
    "fastest": fastest,
    "parameter-servers": parameter_servers,
}


def allreduce_s(way: str, machine: Machine, num_ranks: int, num_bytes: float) -> float:
    """Return the seconds in which so many bytes of every rank are added up, one of `WAYS`; 0 for a rank alone."""
    return WAYS[way](machine, num_ranks, num_bytes) if num_ranks > 1 else 0.0


def _used(machine: Machine, num_ranks: int) -> list[Link]:
    """Return the kinds of links that a ring through so many ranks runs over."""
    within = [machine.within] if min(num_ranks, machine.num_ranks_per_node) > 1 else []
    return within + ([machine.between] if machine.num_nodes(num_ranks) > 1 else [])


@dataclass(frozen=True)
class Speed:
    """What one GPU trains, in images/s, and who measured it."""

    network: str
    batch_size: int
    images_per_s: float
    software: str
    source: str
    precision: str = "float32"


@dataclass(frozen=True)
class Gpu:
    """A kind of GPU: its link to those of its node, in GB/s in one direction, and its published speeds."""

    gbyte_per_s: float
    speeds: Annotated[tuple[Speed, ...], MAY_BE_EMPTY] = ()


@dataclass(frozen=True)
class _File:
    latency_us: Mapping[str, float]
    gpus: Mapping[str, Gpu]


@cache
def _read() -> _File:
    return toml_files.load(_File, GPUS, GPUS.name)


def find_gpu(words: str) -> Gpu:
    """Return the GPU that a site's profile names, such as "NVIDIA A100, 40 GB"; refuse one that is not known here."""
    known = _read().gpus
    name = words.partition(",")[0]
    if name not in known:
        raise CourseKitError(
            f"the links of {name!r} are not known; {GPUS.name} has {', '.join(known)}: add it there.", "gpu.unknown"
        )
    return known[name]


def machine_of(gpu: Gpu, num_gpus_per_node: int, fabric_gbit_per_s: float) -> Machine:
    """Return nodes of such GPUs, each of which sends so much over the fabric."""
    latency = _read().latency_us
    between = Link(fabric_gbit_per_s / GBIT_PER_GBYTE, latency["between"])
    return Machine(Link(gpu.gbyte_per_s, latency["within"]), between, num_gpus_per_node)


def find_speed(gpu: Gpu, network: str, batch_size: int, precision: str) -> Speed | None:
    """Return the published speed with the batch size next to this one (0: the largest), or None."""
    fitting = [one for one in gpu.speeds if (one.network, one.precision) == (network, precision)]
    wanted = batch_size or max((one.batch_size for one in fitting), default=0)
    return min(fitting, key=lambda one: abs(one.batch_size - wanted), default=None)
