"""Read from Horovod's timeline how much of each training step is spent in allreduce.

Rank 0 writes the timeline as a Chrome trace when `HOROVOD_TIMELINE` names a file. A tensor is a "process" there, and
its phases are nested: NEGOTIATE_ALLREDUCE, then ALLREDUCE with the activities MEMCPY_IN_FUSION_BUFFER, GLOO_ALLREDUCE
(or MPI_, NCCL_), MEMCPY_OUT_FUSION_BUFFER and, on GPUs, WAIT_FOR_DATA in it (Horovod 0.28, `common/timeline.cc`).
Tensors that travel together in one fusion buffer show the same seconds each, so durations must not be added up.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coursekit.errors import CourseKitError
from coursekit.intervals import covered_before

REDUCTION = "ALLREDUCE"
ON_THE_WIRE = "_ALLREDUCE"  # how the activity ends in which numbers travel: by Gloo, MPI or NCCL
WAITING = "WAIT_"  # an activity that waits for the GPU to finish computing
MICROSECONDS = 1e-6
NEGOTIATION = "NEGOTIATE_"  # how the phase begins in which ranks report a tensor, the first of them at its begin
BYTES_UNKNOWN_TO_NUMPY = {"bfloat16": 2}
_BETWEEN_EVENTS = re.compile(r"[\s,\[]*")


@dataclass(frozen=True)
class Communication:
    """What rank 0 did in each training step; a step lasts from one reduction of a gradient to its next.

    Attributes:
        step_s: seconds of each step.
        communication_s: seconds of each step in which gradients were copied or on their way. Waiting for ranks that
            are not ready yet (negotiation) does not count, and computing may go on meanwhile.
    """

    step_s: tuple[float, ...]
    communication_s: tuple[float, ...]

    @property
    def share(self) -> float:
        """The share of a step that communication takes, from 0 to 1: the median over steps."""
        return float(np.median(np.divide(self.communication_s, self.step_s)))


def communication_share(path: Path | str) -> Communication:
    """Return the seconds of steps and of communication that the file named by `HOROVOD_TIMELINE` holds.

    The time before the first reduction, in which TensorFlow traces the step, belongs to no step.
    One rank alone reduces no gradients, so that its timeline holds no steps.
    A timeline that ends in the middle of an event, since its rank was killed, is read up to there.

    Raises:
        CourseKitError: there is no such file, it is not a timeline, or it holds less than two steps.
    """
    starts, named = _reductions(_events(Path(path)))
    # Metrics are averaged once per epoch, gradients once per step: the tensor reduced most often marks the steps.
    marks = max(starts.values(), key=len, default=[])
    if len(marks) < 2:  # noqa: PLR2004  # a step lies between two marks
        raise CourseKitError(f"{path} holds less than two training steps with an allreduce: train for more steps.")
    communication_us = np.diff(covered_before(marks, [interval for _, interval in named]))
    return Communication(*(tuple((MICROSECONDS * times).tolist()) for times in (np.diff(marks), communication_us)))


def times_on_wire(path: Path | str) -> list[tuple[float, float]]:
    """Return for each reduction of each tensor when its numbers began to travel and when they were there.

    Both are in microseconds since Horovod began; the list has the order in which tensors arrived.

    Raises:
        CourseKitError: there is no such file, or it is not a timeline.
    """
    _, named = _reductions(_events(Path(path)))
    return [interval for name, interval in named if name.endswith(ON_THE_WIRE)]


class Reduction(NamedTuple):
    """One reduction of one tensor; times are in microseconds since Horovod began.

    Attributes:
        tensor: its name.
        num_bytes: what each rank gave, in the type that travelled.
        ready_us: when the first rank had it.
        sent_us: when its numbers began to travel; all ranks had it then, and others may travel with it.
        done_us: when they were there.
    """

    tensor: str
    num_bytes: int
    ready_us: float
    sent_us: float
    done_us: float


def reductions(path: Path | str) -> list[Reduction]:
    """Return all reductions of a timeline, in the order in which they ended.

    Raises:
        CourseKitError: there is no such file, or it is not a timeline.
    """
    return list(_whole_reductions(_events(Path(path))))


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


def _whole_reductions(events: Iterable[dict[str, Any]]) -> Iterator[Reduction]:
    names: dict[int, str] = {}
    ready: dict[int, float] = {}
    on_wire: dict[int, list[float]] = defaultdict(list)  # begin, end
    for event in events:
        tensor, kind, name, args = event.get("pid", 0), event.get("ph"), event.get("name", ""), event.get("args", {})
        if kind == "M" and "name" in args:
            names[tensor] = args["name"]
        elif kind == "B" and name.startswith(NEGOTIATION):
            ready[tensor], on_wire[tensor] = event["ts"], []
        elif kind == "B" and name.endswith(ON_THE_WIRE):
            on_wire[tensor] = [event["ts"]]
        elif kind == "E" and len(on_wire[tensor]) == 1:
            on_wire[tensor].append(event["ts"])
        elif kind == "E" and "shape" in args and on_wire[tensor]:
            num_bytes = _itemsize(args["dtype"]) * int(np.prod(json.loads(args["shape"])))
            sent_us, done_us = on_wire.pop(tensor)
            yield Reduction(names.get(tensor, ""), num_bytes, ready[tensor], sent_us, done_us)


def _itemsize(dtype: str) -> int:
    return BYTES_UNKNOWN_TO_NUMPY.get(dtype) or np.dtype(dtype).itemsize


def _reductions(
    events: Iterable[dict[str, Any]],
) -> tuple[dict[int, list[float]], list[tuple[str, tuple[float, float]]]]:
    """Return when reductions began, by tensor, and their activities, with begin and end, all in microseconds."""
    starts: dict[int, list[float]] = defaultdict(list)
    activities: list[tuple[str, tuple[float, float]]] = []
    stacks: dict[int, list[tuple[str, float]]] = defaultdict(list)
    for event in events:
        tensor, kind = event.get("pid", 0), event.get("ph")
        stack = stacks[tensor]
        if kind == "B":
            stack.append((event["name"], event["ts"]))
            if event["name"] == REDUCTION:
                starts[tensor].append(event["ts"])
        elif kind == "E" and stack:
            name, begin = stack.pop()
            if stack and stack[-1][0] == REDUCTION and not name.startswith(WAITING):
                activities.append((name, (begin, event["ts"])))
    return starts, activities


def _events(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the events of a trace, up to the place where it was cut off."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise CourseKitError(
            f"there is no timeline {path} ({error.strerror}): "
            'have one written with ranks.run(…, environ={"HOROVOD_TIMELINE": "timeline.json"}).'
        ) from None
    if not text.startswith("["):
        raise CourseKitError(f"{path} is not a timeline of Horovod: it does not begin with a list of events.")
    decoder = json.JSONDecoder()
    position = 0
    while True:
        position = _BETWEEN_EVENTS.match(text, position).end()  # type: ignore[union-attr]  # fits the empty text too
        try:
            event, position = decoder.raw_decode(text, position)
        except ValueError:  # the closing bracket, or an event without its end
            return
        yield event
