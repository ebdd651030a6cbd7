"""Draw the picture of a prediction for training on more and more nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coursekit.pictures.output import COLORS, GREY, panels
from coursekit.scaling.forecast import Forecast
from coursekit.text import counted, two_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MILLISECONDS = 1000
PARTS = (("computing", "compute_s"), ("waiting for the slowest rank", "waiting_s"), ("gradient exchange", "exposed_s"))
HATCHES = ("", "//", "xx")


def draw_forecast(rows: Sequence[Forecast], title: str) -> tuple[Figure, str]:
    """Return a figure, and its text alternative: the speed, and the parts of a step, for each number of nodes."""
    figure, (left, right) = panels(2, height_inch=4.2)
    _draw_speed(left, rows)
    _draw_parts(right, rows)
    figure.suptitle(title, fontsize="medium")
    words = [
        f"{counted(row.num_nodes, 'node')}: {two_digits(row.images_per_s)} images per second "
        f"({two_digits(row.low)} to {two_digits(row.high)}), {row.efficiency:.0%} of perfect scaling"
        for row in rows
    ]
    return figure, f"{title}. Predicted: {'; '.join(words)}."


def _draw_speed(axes: Axes, rows: Sequence[Forecast]) -> None:
    ranks = [row.num_ranks for row in rows]
    perfect = [row.images_per_s / row.efficiency for row in rows]
    axes.plot(ranks, perfect, linestyle=":", color=GREY, label="perfect scaling")
    axes.fill_between(ranks, [row.low for row in rows], [row.high for row in rows], color=COLORS[0], alpha=0.2)
    speeds = [row.images_per_s for row in rows]
    axes.plot(ranks, speeds, marker="o", color=COLORS[0], label="predicted; band: nine of ten cases")
    axes.set(xscale="log", yscale="log", xlabel="GPUs", ylabel="images/s of all GPUs")
    axes.set_xticks(ranks, [str(number) for number in ranks], minor=False)
    axes.minorticks_off()
    axes.set_yticks(speeds, list(map(two_digits, speeds)), minor=False)
    axes.legend(fontsize="small", loc="upper left")


def _draw_parts(axes: Axes, rows: Sequence[Forecast]) -> None:
    positions, bottoms = range(len(rows)), [0.0] * len(rows)
    for number, (words, name) in enumerate(PARTS):
        heights = [100 * getattr(row.step, name) / row.step.total_s for row in rows]
        axes.bar(
            positions, heights, bottom=bottoms, label=words, width=0.6,
            color=COLORS[number], hatch=HATCHES[number], edgecolor="white",
        )  # fmt: skip
        bottoms = [bottom + height for bottom, height in zip(bottoms, heights)]
    for position, row in enumerate(rows):
        total = f"{MILLISECONDS * row.step.total_s:.0f}"
        axes.annotate(total, (position, 101), ha="center", va="bottom", fontsize="small")
    axes.set_xticks(positions, [str(row.num_ranks) for row in rows])
    axes.set_yticks(range(0, 101, 20))
    axes.set(xlabel="GPUs", ylabel="% of a step (on top: its ms)", ylim=(0, 145))
    axes.legend(fontsize="small", loc="upper left")
