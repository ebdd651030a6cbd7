"""Machines: the speeds and links of sites' GPUs, and how long each kind of allreduce takes on them.

Each formula is the number of messages times the latency, plus the bytes over the bandwidth (R. W. Hockney, 1994).
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
    """The link of a rank or node: its bandwidth in each direction if both directions are busy, and its latency."""

    gbyte_per_s: float
    latency_us: float

    @property
    def latency_s(self) -> float:
        """The time that even the shortest message takes."""
        return self.latency_us * MICROSECOND

    def seconds(self, num_bytes: float) -> float:
        """Return how many seconds this number of bytes takes, without the latency."""
        return num_bytes / (self.gbyte_per_s * GIGABYTE)

    def slowed(self, efficiency: float) -> Link:
        """Return this link, slowed to the given bandwidth efficiency."""
        return replace(self, gbyte_per_s=efficiency * self.gbyte_per_s)


@dataclass(frozen=True)
class Machine:
    """Nodes with identical GPUs."""

    within: Link  # the link of a GPU to the others in its node
    between: Link  # the link of a node to the other nodes, shared by its ranks
    num_ranks_per_node: int  # ranks, and therefore GPUs, on a full node

    def num_nodes(self, num_ranks: int) -> int:
        """Return how many nodes this number of ranks needs; the last node may be partly empty."""
        return math.ceil(num_ranks / self.num_ranks_per_node)

    def slowed(self, within: float, between: float) -> Machine:
        """Return this machine with its links slowed to the given bandwidth efficiencies."""
        return replace(self, within=self.within.slowed(within), between=self.between.slowed(between))


def ring(machine: Machine, num_ranks: int, num_bytes: float) -> float:
    """Return how many seconds an allreduce takes in a ring that goes through all ranks, node by node.

    It takes 2 (N - 1) steps; in each step, every rank sends 1/N of the bytes (Patarasuk and Yuan, 2009). So a node
    sends to the next node as many bytes as a single rank sends. As in NCCL's `src/graph/tuning.cc`, two steps for every
    node except one have the latency between nodes.
    """
    num_nodes = machine.num_nodes(num_ranks)
    num_steps = 2 * (num_ranks - 1)
    num_between = 2 * (num_nodes - 1)
    latency = num_between * machine.between.latency_s + (num_steps - num_between) * machine.within.latency_s
    return latency + max(link.seconds(num_steps * num_bytes / num_ranks) for link in _used(machine, num_ranks))


def tree(machine: Machine, num_ranks: int, num_bytes: float) -> float:
    """Return how many seconds an allreduce takes in two binary trees of nodes, first up the trees and then down.

    In each node, the ranks form a chain. Each tree carries half of the bytes; together, they use the full bandwidth
    (Sanders, Speck and Träff, 2009; NCCL since 2.4).
    """
    num_nodes = machine.num_nodes(num_ranks)
    per_node = min(num_ranks, machine.num_ranks_per_node)
    chain = (per_node - 1) * machine.within.latency_s
    latency = 2 * (chain + math.ceil(math.log2(num_nodes)) * machine.between.latency_s)
    return latency + max((link.seconds(2 * num_bytes) for link in _used(machine, num_ranks)), default=0.0)


def fastest(machine: Machine, num_ranks: int, num_bytes: float) -> float:
    """Return how many seconds an allreduce takes by ring or tree, whichever is faster; NCCL makes the same choice."""
    return min(ring(machine, num_ranks, num_bytes), tree(machine, num_ranks, num_bytes))


def parameter_servers(machine: Machine, num_ranks: int, num_bytes: float) -> float:
    """Return how many seconds nodes need to send gradients to parameter servers, one per node, and get weights back.

    First, the ranks of each node add up their gradients over the links within the node.
    Each of n nodes sends (n - 1)/n of the bytes as a worker, and just as many as a server for all other nodes.
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
    """Return how many seconds an allreduce of `num_bytes` bytes takes by one of `WAYS`; 0 for a single rank."""
    return WAYS[way](machine, num_ranks, num_bytes) if num_ranks > 1 else 0.0


def _used(machine: Machine, num_ranks: int) -> list[Link]:
    """Return the kinds of links that an allreduce on this number of ranks uses."""
    within = [machine.within] if min(num_ranks, machine.num_ranks_per_node) > 1 else []
    return within + ([machine.between] if machine.num_nodes(num_ranks) > 1 else [])


@dataclass(frozen=True)
class Speed:
    """The training speed of one GPU in images/s, and who measured it."""

    network: str
    batch_size: int
    images_per_s: float
    software: str
    source: str
    precision: str = "float32"


@dataclass(frozen=True)
class Gpu:
    """A kind of GPU: its bandwidth within a node, in GB/s in one direction, and its published speeds."""

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
    """Return the GPU that a site's profile names, such as "NVIDIA A100, 40 GB"; raise an error if it is unknown."""
    known = _read().gpus
    name = words.partition(",")[0]
    if name not in known:
        raise CourseKitError(
            f"the links of {name!r} are unknown; {GPUS.name} has {', '.join(known)}: add this GPU.", "gpu.unknown"
        )
    return known[name]


def machine_of(gpu: Gpu, num_gpus_per_node: int, fabric_gbit_per_s: float) -> Machine:
    """Return a machine with `num_gpus_per_node` GPUs of this kind; a node sends `fabric_gbit_per_s` to the fabric."""
    latency = _read().latency_us
    between = Link(fabric_gbit_per_s / GBIT_PER_GBYTE, latency["between"])
    return Machine(Link(gpu.gbyte_per_s, latency["within"]), between, num_gpus_per_node)


def find_speed(gpu: Gpu, network: str, batch_size: int, precision: str) -> Speed | None:
    """Return the published speed with the batch size closest to `batch_size`, or None if no speed is known.

    If `batch_size` is 0, return the speed with the largest batch size.
    """
    fitting = [one for one in gpu.speeds if (one.network, one.precision) == (network, precision)]
    wanted = batch_size or max((one.batch_size for one in fitting), default=0)
    return min(fitting, key=lambda one: abs(one.batch_size - wanted), default=None)
