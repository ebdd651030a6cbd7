"""Read Horovod's timeline, and find out how much of each training step is spent in allreduce.

If `HOROVOD_TIMELINE` names a file, rank 0 writes a Chrome trace to it. In this trace, each tensor is a "process" with
nested phases: first NEGOTIATE_ALLREDUCE, and then ALLREDUCE, which has the activities MEMCPY_IN_FUSION_BUFFER,
GLOO_ALLREDUCE (or MPI_, NCCL_), MEMCPY_OUT_FUSION_BUFFER and, on GPUs, WAIT_FOR_DATA (Horovod 0.28,
`common/timeline.cc`). All tensors that travel in one fusion buffer show the same duration, so these durations must not
be added up.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coursekit.errors import CourseKitError
from coursekit.intervals import covered_before

NEGOTIATION = "NEGOTIATE_"  # prefix of the phase in which ranks report a tensor; it begins with the first report
REDUCTION = "ALLREDUCE"
ON_THE_WIRE = "_ALLREDUCE"  # suffix of the activity in which Gloo, MPI or NCCL sends numbers
WAITING = "WAIT_"  # prefix of an activity that waits for the GPU to finish computing
MICROSECONDS = 1e-6
BYTES_UNKNOWN_TO_NUMPY = {"bfloat16": 2}
_BETWEEN_EVENTS = re.compile(r"[\s,\[]*")


class Reduction(NamedTuple):
    """One reduction of one tensor; times are in microseconds since Horovod started."""

    tensor: str  # its name
    num_bytes: int  # size of each rank's tensor, in the type in which it travelled
    ready_us: float  # when the first rank had it ready
    sent_us: float  # when its numbers began to travel, perhaps with other tensors; all ranks had it by then
    done_us: float  # when all of them had arrived


class _Activity(NamedTuple):
    name: str
    begin_us: float
    end_us: float


def reductions(path: Path | str) -> list[Reduction]:
    """Return all reductions in a timeline, in the order in which they ended; raise an error for any other file."""
    return [reduction for reduction, _, _ in _with_activities(path)]


def _with_activities(path: Path | str) -> Iterator[tuple[Reduction, float, list[_Activity]]]:
    """Yield each reduction, the time at which all ranks had the tensor, and rank 0's activities in the reduction."""
    names: dict[int, str] = {}
    ready: dict[int, float] = {}
    open_phases: dict[int, list[tuple[str, float]]] = defaultdict(list)
    activities: dict[int, list[_Activity]] = defaultdict(list)
    for event in _events(Path(path)):
        tensor, kind, args = event.get("pid", 0), event.get("ph"), event.get("args", {})
        phases = open_phases[tensor]
        if kind == "M" and "name" in args:
            names[tensor] = args["name"]
        elif kind == "B":
            phases.append((event["name"], event["ts"]))
            if event["name"].startswith(NEGOTIATION):
                ready[tensor] = event["ts"]
            elif event["name"] == REDUCTION:
                activities[tensor] = []
        elif kind == "E" and phases:
            name, begin_us = phases.pop()
            if phases and phases[-1][0] == REDUCTION:
                activities[tensor].append(_Activity(name, begin_us, event["ts"]))
            wire = [one for one in activities[tensor] if one.name.endswith(ON_THE_WIRE)]
            if name == REDUCTION and wire:
                sent_us, done_us = wire[0].begin_us, wire[0].end_us
                ready_us, size = ready.pop(tensor, begin_us), _num_bytes(args)
                yield Reduction(names.get(tensor, ""), size, ready_us, sent_us, done_us), begin_us, activities[tensor]


def communication_share(path: Path | str) -> float:
    """Return the share of a training step that communication takes, from 0 to 1; this is the median over all steps.

    A step lasts from one reduction of a gradient to the next reduction of the same gradient.
    The time before the first reduction, in which TensorFlow traces the step, belongs to no step.
    Communication means copying and sending gradients. Waiting for ranks that are not ready yet (negotiation) does not
    count as communication. Computing may continue during communication.
    A single rank reduces no gradients, so its timeline has no steps.
    `path` is the file that `HOROVOD_TIMELINE` named.

    Raises:
        CourseKitError: there is no such file, it is not a timeline, or it has fewer than two steps.
    """
    begins: dict[str, list[float]] = defaultdict(list)
    busy = []
    for reduction, begin_us, activities in _with_activities(path):
        begins[reduction.tensor].append(begin_us)
        busy += [(one.begin_us, one.end_us) for one in activities if not one.name.startswith(WAITING)]
    # Metrics are averaged once per epoch and gradients once per step, so the tensor reduced most often marks the steps.
    marks = max(begins.values(), key=len, default=[])
    _require_two_steps(marks, path)
    return float(np.median(np.diff(covered_before(marks, busy)) / np.diff(marks)))


class Phases(NamedTuple):
    """The phases of a step in seconds; their sum is the duration of the whole step."""

    computing_s: float  # from the arrival of the previous step's last gradient until any rank has a gradient ready
    waiting_s: float  # from then until the first gradient travels, once all ranks have it and Horovod has noticed
    travelling_s: float  # from then until the last gradient has arrived


def phases_of_steps(path: Path | str) -> list[Phases]:
    """Return the phases of each step except the first, which would begin with the end of an earlier step.

    Raises:
        CourseKitError: there is no such file, it is not a timeline, or it has fewer than two steps.
    """
    by_tensor: dict[str, list[Reduction]] = defaultdict(list)
    for one in reductions(path):
        by_tensor[one.tensor].append(one)
    steps = list(zip(*by_tensor.values()))  # each tensor travels once per step
    _require_two_steps(steps, path)
    phases = []
    for before, step in zip(steps, steps[1:]):
        ended_us, ready_us = max(one.done_us for one in before), min(one.ready_us for one in step)
        sent_us, done_us = min(one.sent_us for one in step), max(one.done_us for one in step)
        times = (ended_us, ready_us, sent_us, done_us)
        phases.append(Phases(*(MICROSECONDS * (after - one) for one, after in zip(times, times[1:]))))
    return phases


def _require_two_steps(steps: Sequence[object], path: Path | str) -> None:
    if len(steps) < 2:  # noqa: PLR2004  # a step is the time between two marks
        raise CourseKitError(
            f"{path} has fewer than two training steps with an allreduce: train for more steps.",
            "timeline.too-few-steps",
        )


def _num_bytes(args: Mapping[str, str]) -> int:
    """Return a tensor's size in bytes, from the arguments of the event that ends its reduction."""
    itemsize = BYTES_UNKNOWN_TO_NUMPY.get(args["dtype"]) or np.dtype(args["dtype"]).itemsize
    return itemsize * int(np.prod(json.loads(args["shape"])))


def _events(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the events of a trace, which may have been cut off."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise CourseKitError(
            f"the timeline {path} cannot be read ({error.strerror}): "
            'write one with ranks.run(…, environ={"HOROVOD_TIMELINE": "timeline.json"}).',
            "timeline.missing",
        ) from None
    if not text.startswith("["):
        raise CourseKitError(
            f"{path} is not a Horovod timeline, because it does not begin with a list of events.", "timeline.invalid"
        )
    decoder = json.JSONDecoder()
    position = 0
    while True:
        position = _BETWEEN_EVENTS.match(text, position).end()  # type: ignore[union-attr]  # also matches empty text
        try:
            event, position = decoder.raw_decode(text, position)
        except ValueError:  # the closing bracket, or an incomplete event
            return
        yield event
