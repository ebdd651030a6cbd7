"""What the panels of the pictures show, in words with the numbers of this run, for those who cannot see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Array = np.ndarray[Any, Any]

MAX_NUM_ITEMS = 8  # as many as there are colours; a listener does not want 64 ranks read out


def of_data(x: Array, y: Array, lines: Mapping[str, tuple[float, float]]) -> str:
    """Return samples, and lines given as (slope, offset), in words."""
    text = f"{counted(len(x), 'sample')} with x from {_short(x.min())} to {_short(x.max())}"
    text += f" and y from {_short(y.min())} to {_short(y.max())}"
    shown = [f"{label} has slope {_short(slope)}, offset {_short(offset)}" for label, (slope, offset) in lines.items()]
    return _listed(text, shown)


def of_trajectories(title: str, histories: Mapping[str, Array], lowest: Sequence[float], truth: Sequence[float]) -> str:
    """Return trajectories of shape (num_steps + 1, 2) over the loss surface in words, with its two marks."""
    marks = f"the loss is lowest at {_place(lowest)}, the truth is {_place(truth)}"
    shown = [
        f"{label} from {_place(history[0])} to {_place(history[-1])} in {counted(len(history) - 1, 'step')}"
        if len(history) > 1
        else f"{label} at {_place(history[0])}"
        for label, history in histories.items()
    ]
    return _listed(f"{title or 'Trajectories'} ({marks}), places as (slope, offset)", shown)


def of_curves(title: str, curves: Mapping[str, Sequence[float] | Array]) -> str:
    """Return where curves begin and end in words."""
    shown = [f"{label} from {_short(curve[0])} to {_short(curve[-1])}" for label, curve in curves.items()]
    return _listed(title, shown)


def of_shards(shards: Iterable[Array]) -> str:
    """Return the first samples of every rank in words."""
    shown = []
    for rank, samples in enumerate(shards):
        numbers = [str(sample) for sample in samples[:MAX_NUM_ITEMS]] + ["…"] * (len(samples) > MAX_NUM_ITEMS)
        shown.append(f"rank {rank} holds {', '.join(numbers) or 'none'}")
    return _listed("By number of the sample", shown)


def _listed(head: str, items: Sequence[str]) -> str:
    more = [f"and {len(items) - MAX_NUM_ITEMS} more"] if len(items) > MAX_NUM_ITEMS else []
    return ": ".join([head, "; ".join([*items[:MAX_NUM_ITEMS], *more])]) + "." if items else head + "."


def _place(point: Sequence[float] | Array) -> str:
    slope, offset = (round(float(value), 2) + 0.0 for value in point)  # never "-0"
    return f"({slope:g}, {offset:g})"


def _short(value: float) -> str:
    """Return two decimals of a number between, three digits of a small or a large one."""
    is_plain = value == 0 or 0.1 <= abs(value) < 1000  # noqa: PLR2004  # read out well as they are
    return f"{round(float(value), 2):g}" if is_plain else f"{float(value):.3g}"
