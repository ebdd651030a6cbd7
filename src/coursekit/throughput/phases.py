"""What a step of averaging ranks was made of, by Horovod's timeline: computing, waiting for the last rank, the wire."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from coursekit.errors import CourseKitError
from coursekit.throughput.timeline import MICROSECONDS, Reduction, reductions

if TYPE_CHECKING:
    from pathlib import Path


class Phases(NamedTuple):
    """The seconds of a step, which add up to it.

    Attributes:
        computing_s: from the last gradients of the step before to the first gradient that a rank has ready.
        waiting_s: from there on until a first gradient travels: all ranks have it, and Horovod has looked.
        travelling_s: from there on until the last gradient has arrived.
    """

    computing_s: float
    waiting_s: float
    travelling_s: float


def phases_of_steps(path: Path | str) -> list[Phases]:
    """Return the phases of each step but the first, before which there is no other.

    Raises:
        CourseKitError: there is no such file, it is not a timeline, or it holds less than two steps.
    """
    by_tensor: dict[str, list[Reduction]] = defaultdict(list)
    for one in reductions(path):
        by_tensor[one.tensor].append(one)
    steps = list(zip(*by_tensor.values()))  # each tensor travels once in a step
    if len(steps) < 2:  # noqa: PLR2004  # a step lies between the ends of two
        raise CourseKitError(f"{path} holds less than two steps with an allreduce: train for more steps.")
    phases = []
    for before, step in zip(steps, steps[1:]):
        ended_us, ready_us = max(one.done_us for one in before), min(one.ready_us for one in step)
        sent_us, done_us = min(one.sent_us for one in step), max(one.done_us for one in step)
        times = (ended_us, ready_us, sent_us, done_us)
        phases.append(Phases(*(MICROSECONDS * (after - one) for one, after in zip(times, times[1:]))))
    return phases
