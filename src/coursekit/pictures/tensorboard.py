"""Read the event files and the profile of a training run, and draw them as TensorBoard does."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coursekit.intervals import covered
from coursekit.pictures.output import COLORS, GROUND, HEIGHT_INCH, panels, show
from coursekit.text import counted

HISTOGRAM = "histograms"  # the plugin's name in an event
ALLREDUCE = "HorovodAllreduce"  # an operation's kind
MAX_NUM_RIDGES = 6

# In a profile:
HOST = "/host:CPU"
STEP = "train"  # Keras's name for a step of `fit`
INPUT = "IteratorGetNextOp::DoCompute"
ARRIVED = "ExecutorState::ProcessAsync::Done"  # an asynchronous operation, such as an allreduce, is complete
PIPELINE = "tf_data"  # threads of a pipeline
OPERATION = re.compile(r"[\w/]+:\w+")  # an operation's name in the graph, and its kind
BACKWARD = "gradient_tape/"
PARTS = ("input", "network", "allreduce")
NUM_SHOWN = 3  # steps per run
MS = 1e3


class Event(NamedTuple):
    """A number or a histogram that a training run wrote."""

    tag: str  # its name, such as "epoch_loss" or "dense/kernel_0/histogram"
    step: int  # the training step or the epoch, both counted from 0
    # A float, or an array of shape (num_buckets, 3): left edge, right edge, and number of weights in the bucket.
    value: Any


def read_events(folder: str | os.PathLike[str]) -> list[Event]:
    """Return the scalars and histograms from the event files of a folder, oldest file first; leave out other events.

    Raises:
        FileNotFoundError: the folder has no event files; subfolders are not searched.
    """
    events = events_in(folder)
    if not events:
        raise FileNotFoundError(f"there are no events in {folder}: Keras writes into train/ and validation/ there")
    return events


def events_in(folder: str | os.PathLike[str]) -> list[Event]:
    """Return the same events as `read_events`, or an empty list if there are none."""
    import tensorflow as tf  # notebooks import this package before they need TensorFlow

    return [
        Event(value.tag, int(event.step), float(array) if array.ndim == 0 else array)
        for event in _written(folder)
        for value in event.summary.value
        for array in [tf.make_ndarray(value.tensor)]
        if array.dtype.kind == "f" and (array.ndim == 0 or value.metadata.plugin_data.plugin_name == HISTOGRAM)
    ]


def count_allreduces(folder: str | os.PathLike[str]) -> int:
    """Return how many allreduces are in the graph of a training step that Keras's callback wrote to event files.

    Keras writes a graph if another callback, such as Horovod's, asks to be called after each batch.

    Raises:
        FileNotFoundError: there is no graph.
    """
    import tensorflow as tf  # as above

    written = next((event.graph_def for event in _written(folder) if event.graph_def), None)
    if written is None:
        raise FileNotFoundError(f"there is no graph in the event files of {folder}")
    functions = tf.compat.v1.GraphDef.FromString(written).library.function
    return sum(node.op == ALLREDUCE for function in functions for node in function.node_def)


def _written(folder: str | os.PathLike[str]) -> list[Any]:
    """Return everything that TensorFlow wrote to the event files of a folder, oldest file first."""
    import tensorflow as tf  # as above

    # Second, process and counter are sorted as numbers, because "10" < "9".
    files = sorted(
        Path(folder).glob("*tfevents*"), key=lambda path: [int(one) for one in re.findall(r"\d+", path.name)]
    )
    records = tf.data.TFRecordDataset([*map(str, files)]).as_numpy_iterator() if files else ()
    return [tf.compat.v1.Event.FromString(record) for record in records]


def show_scalars(events: Sequence[Event], tags: Sequence[str]) -> None:
    """Show a curve for each tag in a separate panel, as TensorBoard's tab *Scalars* does."""
    figure, all_axes = panels(len(tags))
    ends = []
    for axes, tag in zip(all_axes, tags):
        steps, values = zip(*[(event.step, event.value) for event in events if event.tag == tag])
        axes.plot(steps, values, "o-", color=COLORS[0], markersize=3)
        axes.set(xlabel="epoch" if tag.startswith("epoch") else "step", title=tag, ylim=(0, None))
        ends.append(f"{tag} goes from {values[0]:.3g} to {values[-1]:.3g} in {counted(len(values), 'step')}")
    show(figure, f"Scalars: {'; '.join(ends)}.")


def show_histograms(events: Sequence[Event], tag: str) -> None:
    """Show how the weights of a layer are distributed after each epoch, as TensorBoard's tab *Histograms* does.

    Each epoch is a hill in front of the hill of the previous epoch. If there are many epochs, only some of them are
    shown, including the last.
    """
    found = [event for event in events if event.tag == tag]
    shown = np.linspace(0, len(found) - 1, min(len(found), MAX_NUM_RIDGES)).round().astype(int)
    found = [found[number] for number in shown]
    densities = [event.value[:, 2] / event.value[:, 2].sum() / np.diff(event.value[:, :2])[:, 0] for event in found]
    bases = np.arange(len(found))[::-1] * max(density.max() for density in densities) / 3
    figure, (axes,) = panels(1)
    for number, (event, base, density) in enumerate(zip(found, bases, densities)):
        middles = event.value[:, :2].mean(axis=1)
        axes.fill_between(middles, base, base + density, color=COLORS[0], edgecolor=GROUND, zorder=number + 2)
    axes.set_yticks(bases, [f"epoch {event.step}" for event in found])
    axes.set(xlabel="weight", ylabel="density of the weights", title=tag)
    first, last = (f"from {one.value[:, 0].min():.2g} to {one.value[:, 1].max():.2g}" for one in (found[0], found[-1]))
    show(figure, f"Histogram of {tag}: the weights lie {first} after the first epoch, {last} after the last.")


class Traced(NamedTuple):
    """Something that a thread did, and when it began and ended, in seconds."""

    name: str
    thread: str
    begin_s: float
    end_s: float


class Step(NamedTuple):
    """A training step: when it began and ended, and when each of its parts worked or was waited for."""

    begin_s: float
    end_s: float
    parts: Mapping[str, Sequence[tuple[float, float]]]


def read_trace(folder: str | os.PathLike[str]) -> list[Traced]:
    """Return what threads did, according to the newest profile below a folder of logs, in the order of beginning.

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
    """Return the steps of a training run except the first, in which TensorFlow builds the graph.

    A step waits for allreduces from the moment when its last gradient is computed until the last result has arrived;
    gradients that travel before that moment cost no time.
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
    """Show, for a few steps of each run, when they waited for data, computed, and waited for other ranks."""
    figure, all_axes = panels(len(steps_of_runs), HEIGHT_INCH * 0.8)
    described = []
    for axes, (name, steps) in zip(all_axes, steps_of_runs.items()):
        lengths_s = [step.end_s - step.begin_s for step in steps]
        neighbours = [steps[first : first + NUM_SHOWN] for first in range(max(1, len(steps) - NUM_SHOWN + 1))]
        # Show the neighbours with the median time: those that span two epochs include the work between epochs.
        shown = sorted(neighbours, key=lambda few: few[-1].end_s - few[0].begin_s)[len(neighbours) // 2]
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
        for part in PARTS:  # overlapping work counts once
            busy_s = covered([span for step in steps for span in step.parts[part]])
            shares.append(f"{part} {busy_s / sum(lengths_s):.0%}")
        described.append(f"{name}: {median_ms:.1f} ms a step, of all steps {', '.join(shares)}")
    show(figure, f"What steps spend their time on; the rest is Python. {'; '.join(described)}.")
