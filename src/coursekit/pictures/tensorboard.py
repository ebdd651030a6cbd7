"""What TensorBoard reads and shows: the event files of a training, as plain numbers and as pictures."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coursekit.pictures import COLORS, panels, show
from coursekit.pictures.output import GROUND
from coursekit.text import counted

HISTOGRAM = "histograms"  # the plugin's name in an event
ALLREDUCE = "HorovodAllreduce"  # an operation's kind
MAX_NUM_RIDGES = 6


class Event(NamedTuple):
    """One number, or one histogram, that a training wrote down.

    Attributes:
        tag: what it is, such as "epoch_loss", or "dense/kernel_0/histogram".
        step: of the training, or the epoch, both from 0.
        value: a float, or an array of shape (num_buckets, 3): left edge, right edge, and how many weights lie between.
    """

    tag: str
    step: int
    value: Any


def read_events(folder: str | os.PathLike[str]) -> list[Event]:
    """Return the scalars and histograms in the event files of a folder, oldest file first; other events are left out.

    Folders in it are not looked into: Keras writes into `train` and `validation`.
    """
    import tensorflow as tf  # notebooks import this package before they need TensorFlow

    return [
        Event(value.tag, int(event.step), float(array) if array.ndim == 0 else array)
        for event in _written(folder)
        for value in event.summary.value
        for array in [tf.make_ndarray(value.tensor)]
        if array.dtype.kind == "f" and (array.ndim == 0 or value.metadata.plugin_data.plugin_name == HISTOGRAM)
    ]


def count_allreduces(folder: str | os.PathLike[str]) -> int:
    """Return how many allreduces are in the graph of a training step that Keras' callback wrote into event files.

    It writes one where another callback, such as Horovod's, asks to be called after each batch.

    Raises:
        FileNotFoundError: there is none.
    """
    import tensorflow as tf  # as above

    written = next((event.graph_def for event in _written(folder) if event.graph_def), None)
    if written is None:
        raise FileNotFoundError(f"there is no graph in the event files of {folder}")
    functions = tf.compat.v1.GraphDef.FromString(written).library.function
    return sum(node.op == ALLREDUCE for function in functions for node in function.node_def)


def _written(folder: str | os.PathLike[str]) -> list[Any]:
    """Return what TensorFlow wrote into the event files of a folder, oldest first."""
    import tensorflow as tf  # as above

    # Second, process and its counter; as texts, 10 < 9.
    files = sorted(
        Path(folder).glob("*tfevents*"), key=lambda path: [int(one) for one in re.findall(r"\d+", path.name)]
    )
    records = tf.data.TFRecordDataset([*map(str, files)]).as_numpy_iterator() if files else ()
    return [tf.compat.v1.Event.FromString(record) for record in records]


def show_scalars(events: Sequence[Event], tags: Sequence[str]) -> None:
    """Show a curve of each tag, a panel each, as TensorBoard's tab *Scalars* does."""
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

    Each epoch is a hill before that of the epoch before; of many epochs only some are shown, the last among them.
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
