"""Allreduce four ways, as schedules: who sends which chunk to whom, step by step.

The lecture draws its pictures from these schedules and counts its table of costs in them; tests execute them.
In a step every rank sends at most one message and receives at most one, as a network card with one port would.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

State = tuple[tuple[frozenset[int], ...], ...]


@dataclass(frozen=True)
class Message:
    """One chunk on its way from rank `source` to rank `target`, which adds it to its own or puts it in its place."""

    source: int
    target: int
    chunk: int = 0
    adds: bool = True


@dataclass(frozen=True)
class Schedule:
    """All messages of one allreduce: the messages of a step travel at the same time."""

    num_ranks: int
    num_chunks: int
    steps: tuple[tuple[Message, ...], ...]


@dataclass(frozen=True)
class Cost:
    """What a schedule costs.

    Attributes:
        steps: how often all ranks wait for a message.
        path: data that passes one after another, the largest message of each step, in units of the whole array.
        busiest: data that the busiest rank sends, in the same units.
        average: data that a rank sends on average.
    """

    steps: int
    path: Fraction
    busiest: Fraction
    average: Fraction

    def seconds(self, num_bytes: float, alpha_s: float, beta_s: float) -> float:
        """Return the time of an array by the model of latency and bandwidth: steps x alpha + bytes x beta."""
        return self.steps * alpha_s + float(self.path) * num_bytes * beta_s


def star(num_ranks: int) -> Schedule:
    """All send to rank 0, one after another; it sends the sum back to each."""
    others = range(1, num_ranks)
    gather = [(Message(rank, 0),) for rank in others]
    back = [(Message(0, rank, adds=False),) for rank in others]
    return Schedule(num_ranks, 1, (*gather, *back))


def tree(num_ranks: int) -> Schedule:
    """Pairs add up, then pairs of pairs, until rank 0 has the sum, which goes back down the same way."""
    up = []
    distance = 1
    while distance < num_ranks:
        up.append(tuple(Message(rank, rank - distance) for rank in range(distance, num_ranks, 2 * distance)))
        distance *= 2
    down = [tuple(Message(one.target, one.source, adds=False) for one in step) for step in reversed(up)]
    return Schedule(num_ranks, 1, (*up, *down))


def butterfly(num_ranks: int) -> Schedule:
    """Partners at distance 1, 2, 4, … swap what they have, and both add (recursive doubling).

    Raises:
        ValueError: the number of ranks is not a power of two.
    """
    if num_ranks & (num_ranks - 1):
        raise ValueError(f"a butterfly needs a power of two ranks, not {num_ranks}")
    distances = [2**level for level in range(num_ranks.bit_length() - 1)]
    steps = [tuple(Message(rank, rank ^ distance) for rank in range(num_ranks)) for distance in distances]
    return Schedule(num_ranks, 1, tuple(steps))


def ring(num_ranks: int) -> Schedule:
    """Each rank passes one chunk to its neighbour: first adding (reduce-scatter), then copying (allgather)."""
    steps = [
        tuple(
            Message(rank, (rank + 1) % num_ranks, (rank + shift - step) % num_ranks, adds) for rank in range(num_ranks)
        )
        for shift, adds in ((0, True), (1, False))
        for step in range(num_ranks - 1)
    ]
    return Schedule(num_ranks, num_ranks, tuple(steps))


WAYS: dict[str, Callable[[int], Schedule]] = {"star": star, "tree": tree, "butterfly": butterfly, "ring": ring}


def states(schedule: Schedule) -> list[State]:
    """Return whose data each rank's chunks contain: at the start, then after each step.

    Raises:
        ValueError: a rank's data would be added twice.
    """
    now = [[frozenset({rank})] * schedule.num_chunks for rank in range(schedule.num_ranks)]
    history = [tuple(map(tuple, now))]
    for step in schedule.steps:
        before = history[-1]
        for one in step:
            sent, own = before[one.source][one.chunk], before[one.target][one.chunk]
            if one.adds and sent & own:
                raise ValueError(f"{one} adds {sorted(sent & own)} twice")
            now[one.target][one.chunk] = sent | own if one.adds else sent
        history.append(tuple(map(tuple, now)))
    return history


def count(schedule: Schedule) -> Cost:
    """Count what a schedule costs; all its chunks are of one size."""
    chunk = Fraction(1, schedule.num_chunks)
    sent = [0] * schedule.num_ranks
    for step in schedule.steps:
        for one in step:
            sent[one.source] += 1
    return Cost(
        steps=len(schedule.steps),
        path=chunk * len(schedule.steps),
        busiest=chunk * max(sent),
        average=chunk * Fraction(sum(sent), schedule.num_ranks),
    )
