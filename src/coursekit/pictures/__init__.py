"""Draw the pictures of the labs: data, loss surfaces with trajectories, losses and shards; every rank has a colour.

Every picture has a text alternative with the numbers of the run.
All pictures have the same light background, and the contrast that WCAG 2.2 requires: 4.5 for text, 3 for lines.
No function needs pyplot or a notebook's backend.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from coursekit.pictures.output import COLORS, GREY, LINE_STYLES, MARKERS, Array, panels, show, style
from coursekit.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OPTIMUM = (2.0, 0.0)  # the slope and offset with which the labs generate their data

SMALLEST_DISTANCE = 1e-6  # distances below it are drawn as zero
MANY_STEPS = 2000  # in a longer trajectory, only the first steps are drawn, as a thin line
NUM_STEPS_OF_LONG_TRAJECTORY = 100
FEW_STEPS = 100  # a trajectory with at most this many steps has a dot for each step

MAX_NUM_ITEMS = 8  # in a text alternative; as many as there are colours: nobody wants to hear 64 ranks read out


def loss_surface(slopes: Array, offsets: Array, x: Array, y: Array) -> Array:
    """Return the mean squared error on a grid, with the shape (len(offsets), len(slopes))."""
    mean = {"x": x.mean(), "y": y.mean(), "xx": (x * x).mean(), "xy": (x * y).mean(), "yy": (y * y).mean()}
    m, b = np.meshgrid(slopes, offsets)
    surface: Array = (
        m * m * mean["xx"] + b * b + mean["yy"] + 2 * m * b * mean["x"] - 2 * m * mean["xy"] - 2 * b * mean["y"]
    )
    return surface


def draw_data(axes: Axes, x: Array, y: Array, lines: Mapping[str, tuple[float, float]] | None = None) -> None:
    """Draw the samples and some straight lines; `lines` maps each label to (slope, offset)."""
    axes.plot(x, y, ".", color=GREY, markersize=3, label=f"{len(x)} samples")
    ends = np.array([x.min(), x.max()])
    for number, (label, (slope, offset)) in enumerate((lines or {}).items()):
        axes.plot(ends, slope * ends + offset, label=label, **style(number))
    text = f"{counted(len(x), 'sample')} with x from {_short(x.min())} to {_short(x.max())}"
    text += f" and y from {_short(y.min())} to {_short(y.max())}"
    shown = [f"{label} has slope {_short(m)}, offset {_short(b)}" for label, (m, b) in (lines or {}).items()]
    axes.set(xlabel="x", ylabel="y", title="Data", label=_listed(text, shown))
    axes.legend(loc="upper left", fontsize="small")


def draw_trajectories(  # noqa: PLR0913  # a picture and its data
    axes: Axes, histories: Mapping[str, Array], x: Array, y: Array, title: str = "", *, region: Array | None = None
) -> None:
    """Draw trajectories over the loss surface; `histories` maps each label to an array of shape (num_steps + 1, 2).

    If there is only one trajectory and it has few steps, it gets a dot for each step.
    `region` holds the lowest and the highest (slope, offset) to show. A trajectory that ends outside the region is
    drawn only until it first leaves the region.
    """
    low, high = region_of(histories.values()) if region is None else region
    slopes, offsets = np.linspace(low[0], high[0], 80), np.linspace(low[1], high[1], 80)
    surface = loss_surface(slopes, offsets, x, y)
    levels = np.geomspace(surface.min() * 1.02, surface.max(), 14)
    axes.contour(slopes, offsets, surface, levels=levels, colors=GREY, linewidths=0.5)
    for number, (label, history) in enumerate(histories.items()):
        drawn, remark = _drawn(np.asarray(history), low, high)
        width = 0.6 if len(history) > MANY_STEPS else 1.5
        dots = "." if len(histories) == 1 and len(history) <= FEW_STEPS + 1 else ""
        axes.plot(*drawn.T, label=label + remark, linewidth=width, marker=dots, markersize=4, **style(number))
        axes.plot(*history[0], MARKERS[number % 8], color=COLORS[number % 8], markersize=6)
    lowest = lowest_point(x, y)
    axes.plot(*lowest, "+", color="black", markersize=13, markeredgewidth=2, label="lowest loss")
    truth = f"truth ({OPTIMUM[0]:g}, {OPTIMUM[1]:g})"
    axes.plot(*OPTIMUM, "x", color="red", markersize=8, markeredgewidth=2, label=truth)
    axes.set(xlabel="slope", ylabel="offset", xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axes.set_title(title, fontsize="medium")
    axes.set_label(_words_of_trajectories(title, histories, lowest, OPTIMUM))
    axes.legend(loc="best", fontsize="small")


def region_of(histories: Iterable[Array]) -> Array:
    """Return the lowest and highest (slope, offset) of a region around all initial points and the optimum.

    The result has the shape (2, 2).
    """
    places = np.array([*(history[0] for history in histories), OPTIMUM])
    return np.stack([places.min(axis=0) - 0.6, places.max(axis=0) + 0.6])


def lowest_point(x: Array, y: Array) -> tuple[float, float]:
    """Return the slope and offset of the line with the smallest mean squared error."""
    slope, offset = np.linalg.lstsq(np.stack([x, np.ones_like(x)], axis=1), y, rcond=None)[0]
    return float(slope), float(offset)


def _drawn(history: Array, low: Array, high: Array) -> tuple[Array, str]:
    """Return the part of a trajectory that is drawn, and words for its label that say which part this is, or ''."""
    if len(history) > MANY_STEPS:
        return history[:NUM_STEPS_OF_LONG_TRAJECTORY], f", first {NUM_STEPS_OF_LONG_TRAJECTORY}"
    is_outside = ~np.all((low <= history) & (history <= high), axis=1)  # NaN counts as outside
    return (history[: is_outside.argmax() + 1], ", until it leaves") if is_outside[-1] else (history, "")


def draw_losses(axes: Axes, histories: Mapping[str, Array], x: Array, y: Array, title: str = "Loss per step") -> None:
    """Draw the loss over all data after every step; `histories` maps each label to a trajectory."""
    is_long = max(map(len, histories.values())) > MANY_STEPS
    losses = {}
    for number, (label, history) in enumerate(histories.items()):
        steps = thin(np.arange(len(history))) if is_long else np.arange(len(history))
        points = np.asarray(history)[steps]
        losses[label] = [float(np.mean((slope * x + offset - y) ** 2)) for slope, offset in points]
        axes.plot(steps, losses[label], label=label, **style(number))
    scale = "symlog" if is_long else "linear"
    axes.set(xlabel="step", ylabel="mean squared error", title=title, xscale=scale, yscale="log")
    axes.set_label(_words_of_curves(f"{title}, mean squared error", losses))
    axes.legend(loc="best", fontsize="small")


def thin(values: Array, num_points: int = 400) -> Array:
    """Return at most `num_points` of the values, evenly spaced on a logarithmic axis and including both ends."""
    picked: Array = values[np.unique(np.geomspace(1, len(values), num_points).round().astype(int)) - 1]
    return picked


def by_rank(histories: Sequence[Array]) -> dict[str, Array]:
    """Return a dict that maps the label of each rank, such as "rank 0", to the rank's trajectory."""
    return {f"rank {rank}": np.asarray(history) for rank, history in enumerate(histories)}


def before_and_after(before: Sequence[Array], after: Sequence[Array], x: Array, y: Array, what: str) -> None:
    """Show all ranks' trajectories before and after a change, side by side, and the distance between the ranks."""
    figure, (left, right, below) = panels(3)
    region = region_of([*before, *after])
    draw_trajectories(left, by_rank(before), x, y, f"before: no {what}", region=region)
    draw_trajectories(right, by_rank(after), x, y, f"after: with {what}", region=region)
    distances = {"before": distance_between_ranks(before), "after": distance_between_ranks(after)}
    for number, (label, distance) in enumerate(distances.items()):
        shown = np.maximum(distance, SMALLEST_DISTANCE)
        below.plot(shown, color=(GREY, "black")[number], linestyle=LINE_STYLES[1 - number], label=label)
    below.set_title("distance between ranks", fontsize="medium")
    below.set_label(_words_of_curves("Distance between ranks", distances))
    below.set(xlabel="step", yscale="log", ylim=(SMALLEST_DISTANCE / 2, 10))
    below.set_yticks([SMALLEST_DISTANCE, 1e-4, 1e-2, 1], ["0", "0.0001", "0.01", "1"], minor=False)
    below.legend(fontsize="small")
    ends = [distance[-1] for distance in distances.values()]
    alt = (
        f"Trajectories of {len(after)} ranks over the loss surface before and after {what}. "
        f"The ranks end {ends[0]:.2g} apart before and {ends[1]:.2g} apart after."
    )
    show(figure, alt)
    print(f"largest distance between ranks at the end: before {ends[0]:.2g}, after {ends[1]:.2g}")


def distance_between_ranks(histories: Sequence[Array]) -> Array:
    """Return the largest distance of any rank from rank 0 after every step, shape (num_steps + 1,)."""
    stacked = np.stack([np.asarray(history) for history in histories])
    distances: Array = np.max(np.hypot(*(stacked - stacked[:1]).transpose(2, 0, 1)), axis=0)
    return distances


def show_shards(shards: Sequence[Array], num_samples: int) -> None:
    """Show which rank owns which sample; `shards` holds the sample numbers of each rank."""
    figure, (axes,) = panels(1, height_inch=0.9 + 0.35 * len(shards))
    words = []
    for rank, samples in enumerate(shards):
        numbers = [str(sample) for sample in samples[:MAX_NUM_ITEMS]] + ["…"] * (len(samples) > MAX_NUM_ITEMS)
        words.append(f"rank {rank} holds {', '.join(numbers) or 'none'}")
        samples = np.asarray(samples, dtype=int)  # noqa: PLW2901  # the same samples, as numbers
        axes.vlines(samples, rank - 0.4, rank + 0.4, color=COLORS[rank % 8], linewidth=6 if num_samples <= 60 else 1)  # noqa: PLR2004  # bars that just touch
    axes.set(xlabel="sample", yticks=range(len(shards)), yticklabels=[f"rank {rank}" for rank in range(len(shards))])
    axes.set(xlim=(-0.5, num_samples - 0.5), title="Who owns which sample", label=_listed("By sample number", words))
    num_used = len(np.unique(np.concatenate([np.asarray(samples, dtype=int) for samples in shards])))
    sizes = ", ".join(str(len(samples)) for samples in shards)
    show(figure, f"The ranks hold {sizes} samples; together they use {num_used} of {num_samples}.")


def show_limit(learning_rates: Array, losses: Array, limit: float) -> None:
    """Show the loss after training against the learning rate, and the limit above which training is unstable."""
    figure, (axes,) = panels(1)
    axes.plot(learning_rates, np.minimum(losses, 1e6), "o-", color=COLORS[0], markersize=4)
    axes.axvline(limit, color=COLORS[1], linestyle="--", label=f"2 / largest eigenvalue = {limit:.3f}")
    axes.set(
        xlabel="learning rate", ylabel="mean squared error at the end", yscale="log", title="Where training breaks"
    )
    axes.legend(fontsize="small")
    alt = (
        f"The loss at the end stays low up to a learning rate of {limit:.3f} and explodes above it: "
        f"{losses[0]:.3g} at a rate of {learning_rates[0]:.3g}, {losses[-1]:.3g} at {learning_rates[-1]:.3g}."
    )
    show(figure, alt)


def _words_of_trajectories(
    title: str, histories: Mapping[str, Array], lowest: Sequence[float], truth: Sequence[float]
) -> str:
    """Describe in words trajectories of shape (num_steps + 1, 2) over the loss surface, and the two marked points."""
    marks = f"the loss is lowest at {_place(lowest)}, the truth is {_place(truth)}"
    shown = [
        f"{label} from {_place(history[0])} to {_place(history[-1])} in {counted(len(history) - 1, 'step')}"
        if len(history) > 1
        else f"{label} at {_place(history[0])}"
        for label, history in histories.items()
    ]
    return _listed(f"{title or 'Trajectories'} ({marks}), places as (slope, offset)", shown)


def _words_of_curves(title: str, curves: Mapping[str, Sequence[float] | Array]) -> str:
    """Describe in words where curves begin and end."""
    shown = [f"{label} from {_short(curve[0])} to {_short(curve[-1])}" for label, curve in curves.items()]
    return _listed(title, shown)


def _listed(head: str, items: Sequence[str]) -> str:
    more = [f"and {len(items) - MAX_NUM_ITEMS} more"] if len(items) > MAX_NUM_ITEMS else []
    return ": ".join([head, "; ".join([*items[:MAX_NUM_ITEMS], *more])]) + "." if items else head + "."


def _place(point: Sequence[float] | Array) -> str:
    slope, offset = (round(float(value), 2) + 0.0 for value in point)  # never "-0"
    return f"({slope:g}, {offset:g})"


def _short(value: float) -> str:
    """Return a number as text: with two decimals, or with three digits if it is small or large."""
    is_plain = value == 0 or 0.1 <= abs(value) < 1000  # noqa: PLR2004  # these are easy to read
    return f"{round(float(value), 2):g}" if is_plain else f"{float(value):.3g}"
