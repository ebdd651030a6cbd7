"""What TensorBoard's tab *Profile* is made of: the trace that TensorFlow wrote down, as numbers and as a picture."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from coursekit.intervals import covered
from coursekit.pictures import COLORS, HEIGHT_INCH, panels, show

HOST = "/host:CPU"
STEP = "train"  # as Keras calls a step of `fit`
INPUT = "IteratorGetNextOp::DoCompute"
ARRIVED = "ExecutorState::ProcessAsync::Done"  # an operation that answers later, such as an allreduce, has its result
PIPELINE = "tf_data"  # threads of a pipeline
OPERATION = re.compile(r"[\w/]+:\w+")  # its name in the graph, and its kind
BACKWARD = "gradient_tape/"
PARTS = ("input", "network", "allreduce")
NUM_SHOWN = 3  # steps
MS = 1e3


class Traced(NamedTuple):
    """What a thread did, and from when to when, in seconds."""

    name: str
    thread: str
    begin_s: float
    end_s: float


class Step(NamedTuple):
    """A training step: when it began and ended, and by part the times at which that worked or was waited for."""

    begin_s: float
    end_s: float
    parts: Mapping[str, Sequence[tuple[float, float]]]


def read_trace(folder: str | os.PathLike[str]) -> list[Traced]:
    """Return what the threads did in the newest profile below a folder of logs, in the order of their begins.

    Raises:
        FileNotFoundError: there is no profile.
    """
    from tensorflow.tsl.profiler.protobuf import xplane_pb2  # notebooks import this before TensorFlow

    files = sorted(Path(folder).glob("plugins/profile/*/*.xplane.pb"))
    if not files:
        raise FileNotFoundError(f"there is no profile in {folder}")
    space = xplane_pb2.XSpace.FromString(files[-1].read_bytes())
    (host,) = (plane for plane in space.planes if plane.name == HOST)
    traced = []
    for line in host.lines:
        for event in line.events:
            begin_s = line.timestamp_ns / 1e9 + event.offset_ps / 1e12
            name = host.event_metadata[event.metadata_id].name
            traced.append(Traced(name, line.name, begin_s, begin_s + event.duration_ps / 1e12))
    return sorted(traced, key=lambda one: one.begin_s)


def steps_of(trace: Sequence[Traced]) -> list[Step]:
    """Return the steps of a training, without the first, in which TensorFlow builds the graph.

    An allreduce is waited for from the end of the last gradient until the last result has come: what travels before
    that costs nothing.
    """
    steps = []
    for step in [one for one in trace if one.name == STEP][1:]:
        within = [one for one in trace if step.begin_s <= one.begin_s <= step.end_s]
        own = [one for one in within if not one.thread.startswith(PIPELINE)]
        computed = [one for one in own if OPERATION.fullmatch(one.name)]
        backward_s = max((one.end_s for one in computed if one.name.startswith(BACKWARD)), default=step.end_s)
        arrived_s = max((one.begin_s for one in own if one.name == ARRIVED), default=0.0)
        parts = {
            "input": [(one.begin_s, one.end_s) for one in within if one.name == INPUT],
            "network": [(one.begin_s, one.end_s) for one in computed],
            "allreduce": [(backward_s, arrived_s)] if arrived_s > backward_s else [],
        }
        steps.append(Step(step.begin_s, step.end_s, parts))
    return steps


def show_profiles(steps_of_runs: Mapping[str, Sequence[Step]]) -> None:
    """Show some steps of each run, by its name: when it waited for data, computed, and waited for other ranks."""
    figure, all_axes = panels(len(steps_of_runs), HEIGHT_INCH * 0.8)
    told = []
    for axes, (name, steps) in zip(all_axes, steps_of_runs.items()):
        lengths_s = [step.end_s - step.begin_s for step in steps]
        median_place = int(np.argsort(lengths_s)[len(steps) // 2])
        first = max(0, median_place - 1)
        shown = steps[first : first + NUM_SHOWN]
        start_s = shown[0].begin_s
        for row, part in enumerate(PARTS):
            bars = [(MS * (begin - start_s), MS * (end - begin)) for step in shown for begin, end in step.parts[part]]
            axes.broken_barh(bars, (-row - 0.4, 0.8), color=COLORS[row])
        for step in shown:
            axes.axvline(MS * (step.begin_s - start_s), color="0.5", linestyle=":")
        median_ms = MS * float(np.median(lengths_s))
        axes.set(xlabel="milliseconds (dotted: a step begins)", title=f"{name}: {median_ms:.1f} ms a step")
        axes.set(xlim=(0, MS * (shown[-1].end_s - start_s)), ylim=(0.6 - len(PARTS), 0.6))
        axes.set_yticks([-row for row in range(len(PARTS))], PARTS)
        shares = []
        for part in PARTS:  # what it does side by side counts once
            busy_s = covered([span for step in steps for span in step.parts[part]])
            shares.append(f"{part} {busy_s / sum(lengths_s):.0%}")
        told.append(f"{name}: {median_ms:.1f} ms a step, of all steps {', '.join(shares)}")
    show(figure, f"What steps spend their time on; the rest is Python. {'; '.join(told)}.")
