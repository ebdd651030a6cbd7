"""One training step on a clock: gradients get ready, Horovod's cycles collect them, the links carry them.

As tensors become ready from the last layer to the first, Horovod looks every cycle for those that are ready on all
ranks, puts them into fusion buffers, and reduces one buffer after the other while the backward pass goes on.
How fast a GPU computes and how much of its links a training gets come from elsewhere: `forecast.py` has the map.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

from coursekit.scaling.machine import Machine, allreduce_s
from coursekit.scaling.networks import BYTES_PER_NUMBER, Network

FORWARD_SHARE = 1 / 3  # the backward pass computes two products where the forward pass computes one
MIB = 2**20


@dataclass(frozen=True)
class Settings:
    """How gradients are sent; the defaults are Horovod's with NCCL."""

    way: str = "fastest"  # one of `machine.WAYS`
    cycle_ms: float = 1.0  # how often Horovod looks for tensors that are ready; 0 for without end
    fusion_mib: float = 128.0  # the size of a fusion buffer; 0 sends each tensor by itself
    overlap: bool = True  # whether the backward pass goes on meanwhile; not where the same cores do both
    # By which share of the seconds of a hidden allreduce the computing beside it takes longer, since both need the
    # GPU's memory and processors. The default suits published tables best (docs/scaling.md).
    contention: float = 0.25
    traffic: float = 1.0  # allreduces' worth of messages for each buffer: more where weights travel, too
    bytes_per_number: int = BYTES_PER_NUMBER  # 2 for gradients that travel with 16 bits


@dataclass(frozen=True)
class Work:
    """What a rank does in a step."""

    network: Network  # what is trained
    compute_s: float  # seconds for the local batch on a rank that is alone: forward, backward and update
    # By how much these seconds differ from rank to rank and step to step: standard deviation over mean.
    spread: float = 0.0


@dataclass(frozen=True)
class Step:
    """The seconds of a step: those of a rank alone, and what the others add."""

    compute_s: float  # computing on a rank that is alone
    waiting_s: float  # until the slowest rank has computed, too
    exposed_s: float  # by which gradients lengthen the step: links are busy and no rank computes, or it computes slower

    @property
    def total_s(self) -> float:
        """The whole step."""
        return self.compute_s + self.waiting_s + self.exposed_s

    @property
    def efficiency(self) -> float:
        """The share of the step that a rank alone would need."""
        return self.compute_s / self.total_s


def simulate(work: Work, machine: Machine, num_ranks: int, settings: Settings) -> Step:
    """Return one step of so many ranks, each with its own local batch."""
    end_s, busy_s = _send(work, machine, num_ranks, settings)
    exposed_s = max(0.0, end_s - work.compute_s)
    exposed_s += settings.contention * max(0.0, busy_s - exposed_s)
    waiting_s = work.compute_s * work.spread * slowest_of(num_ranks)
    return Step(work.compute_s, waiting_s, exposed_s)


def slowest_of(num_ranks: int) -> float:
    """Return how many standard deviations above the mean the slowest of so many ranks is expected.

    Ranks differ by a normal distribution; the approximation of its largest value is of G. Blom (1958).
    """
    return NormalDist().inv_cdf((num_ranks - 0.375) / (num_ranks + 0.25)) if num_ranks > 1 else 0.0


def ready_times(work: Work) -> list[tuple[float, int]]:
    """Return for each gradient tensor, the last layer's first, when it is ready and how many numbers it has.

    Each layer takes its share of the arithmetic.
    """
    compute_s, layers = work.compute_s, work.network.layers
    now_s = FORWARD_SHARE * compute_s
    total = sum(layer.gflop for layer in layers) or 1.0
    times = []
    for layer in reversed(layers):
        now_s += (1 - FORWARD_SHARE) * compute_s * layer.gflop / total
        times += [(now_s, size) for size in layer.num_parameters]
    return times


def _send(work: Work, machine: Machine, num_ranks: int, settings: Settings) -> tuple[float, float]:
    """Return when the last gradient is there, and how long the links were busy, in seconds."""
    if num_ranks == 1:
        return 0.0, 0.0
    tensors = ready_times(work)
    if not settings.overlap:
        tensors = [(work.compute_s, size) for _, size in tensors]
    cycle_s = settings.cycle_ms / 1000
    # All ranks agree on what is ready by a few bits along a tree: up, and down again.
    link = machine.between if machine.num_nodes(num_ranks) > 1 else machine.within
    agree_s = 2 * math.ceil(math.log2(num_ranks)) * link.latency_s
    free_s, busy_s, first = 0.0, 0.0, 0
    while first < len(tensors):
        tick_s = max(tensors[first][0], free_s)
        if cycle_s:
            tick_s = max(math.ceil(tensors[first][0] / cycle_s) * cycle_s, free_s)
        last = _fused(tensors, first, tick_s, settings)
        num_bytes = settings.bytes_per_number * sum(size for _, size in tensors[first:last])
        seconds = settings.traffic * allreduce_s(settings.way, machine, num_ranks, num_bytes)
        free_s, busy_s, first = tick_s + agree_s + seconds, busy_s + seconds, last
    return free_s, busy_s


def _fused(tensors: list[tuple[float, int]], first: int, tick_s: float, settings: Settings) -> int:
    """Return the end of the tensors that travel together, from `first` on: ready, and no more than a buffer holds."""
    left = settings.fusion_mib * MIB - settings.bytes_per_number * tensors[first][1]
    last = first + 1
    while last < len(tensors) and tensors[last][0] <= tick_s:
        left -= settings.bytes_per_number * tensors[last][1]
        if left < 0:
            break
        last += 1
    return last
