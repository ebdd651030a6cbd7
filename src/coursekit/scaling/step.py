"""Simulate one training step: gradients become ready, Horovod collects them in cycles, and the links carry them.

Tensors become ready from the last layer to the first. In each cycle, Horovod looks for tensors that are ready on all
ranks, puts them into fusion buffers, and reduces one buffer after another while the backward pass continues.
The speed of a GPU and the share of bandwidth that training gets are computed elsewhere; see `forecast.py`.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

from coursekit.scaling.machine import Machine, allreduce_s
from coursekit.scaling.networks import BYTES_PER_NUMBER, Network

FORWARD_SHARE = 1 / 3  # for each product in the forward pass, the backward pass computes two
MIB = 2**20


@dataclass(frozen=True)
class Settings:
    """How gradients are sent; the defaults are Horovod's own with NCCL."""

    way: str = "fastest"  # one of `machine.WAYS`
    cycle_ms: float = 1.0  # how often Horovod looks for tensors that are ready; 0 if it looks continuously
    fusion_mib: float = 128.0  # the size of a fusion buffer; 0 sends each tensor separately
    overlap: bool = True  # whether the backward pass continues during sending; it cannot if the same cores do both
    # An allreduce that overlaps with computing slows it by this share of the allreduce's seconds, because both need the
    # GPU's memory and processors. The default fits published tables best (docs/scaling.md).
    contention: float = 0.25
    traffic: float = 1.0  # traffic for each buffer, in allreduces; more if weights are also sent
    bytes_per_number: int = BYTES_PER_NUMBER  # 2 if gradients travel in 16 bits


@dataclass(frozen=True)
class Work:
    """The work of a rank in a step."""

    network: Network  # what is trained
    compute_s: float  # seconds for the local batch on a single rank: forward, backward and update
    # How much these seconds vary between ranks and between steps: standard deviation over mean.
    spread: float = 0.0


@dataclass(frozen=True)
class Step:
    """The duration of a step in seconds: the time that a single rank needs, and the time that the other ranks add."""

    compute_s: float  # computing on a single rank
    waiting_s: float  # waiting until the slowest rank has also computed
    exposed_s: float  # added by the gradients: they travel while no rank computes, or slow down the computing

    @property
    def total_s(self) -> float:
        """The duration of the whole step in seconds."""
        return self.compute_s + self.waiting_s + self.exposed_s

    @property
    def efficiency(self) -> float:
        """The time that a single rank would need, as a share of this step's time."""
        return self.compute_s / self.total_s


def simulate(work: Work, machine: Machine, num_ranks: int, settings: Settings) -> Step:
    """Return how long each part of a step on `num_ranks` ranks takes; each rank has its own local batch."""
    end_s, busy_s = _send(work, machine, num_ranks, settings)
    exposed_s = max(0.0, end_s - work.compute_s)
    exposed_s += settings.contention * max(0.0, busy_s - exposed_s)
    waiting_s = work.compute_s * work.spread * slowest_of(num_ranks)
    return Step(work.compute_s, waiting_s, exposed_s)


def slowest_of(num_ranks: int) -> float:
    """Return how many standard deviations above the mean the slowest of `num_ranks` ranks is expected to be.

    The ranks' times are assumed to be normally distributed; the largest time is approximated as by G. Blom (1958).
    """
    return NormalDist().inv_cdf((num_ranks - 0.375) / (num_ranks + 0.25)) if num_ranks > 1 else 0.0


def ready_times(work: Work) -> list[tuple[float, int]]:
    """Return when each gradient tensor is ready, and how many numbers it has; the last layer's tensors come first.

    A layer's share of the time is assumed to be its share of the arithmetic.
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
    """Return when the last gradient has arrived, and how long the links were busy, in seconds."""
    if num_ranks == 1:
        return 0.0, 0.0
    tensors = ready_times(work)
    if not settings.overlap:
        tensors = [(work.compute_s, size) for _, size in tensors]
    cycle_s = settings.cycle_ms / 1000
    # To agree on what is ready, ranks send a few bits up a tree and down again.
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
    """Return the end of the range of tensors, starting at `first`, that are ready and fit into one buffer."""
    left = settings.fusion_mib * MIB - settings.bytes_per_number * tensors[first][1]
    last = first + 1
    while last < len(tensors) and tensors[last][0] <= tick_s:
        left -= settings.bytes_per_number * tensors[last][1]
        if left < 0:
            break
        last += 1
    return last
