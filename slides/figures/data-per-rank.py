"""How much the busiest rank sends in one allreduce, by number of ranks, for four ways."""

from __future__ import annotations

from coursekit.pictures import COLORS, LINE_STYLES, MARKERS
from workshop.slides.allreduce import WAYS, count
from workshop.slides.drawing import HALF_INCH, canvas

DATA = ()
CAPTION = "Data that the busiest rank sends, by the schedules."
NUMS_RANKS = (2, 4, 8, 16, 32, 64)
HEIGHT = 7


def draw():
    """Draw a line for each way; the star soon leaves the picture."""
    figure, (axes,) = canvas(HALF_INCH)
    for index, way in enumerate(WAYS):
        style = {"color": COLORS[index], "linestyle": LINE_STYLES[index], "marker": MARKERS[index]}
        axes.plot(NUMS_RANKS, _sent(way), **style, label=way, clip_on=True, linewidth=4 if way == "ring" else 2.5)
    axes.set_xscale("log", base=2)
    axes.set_xticks(NUMS_RANKS, [str(num) for num in NUMS_RANKS])
    axes.set(ylim=(0, HEIGHT), xlabel="ranks", ylabel="arrays sent")
    axes.text(5.2, 6.4, "star", color=COLORS[0], ha="right")
    axes.text(66, 3.5, "tree, butterfly", color=COLORS[2], ha="right")
    axes.text(30, 1.2, "ring", color=COLORS[3], ha="center", weight="bold")
    axes.axhline(2, color="0.4", linewidth=1)
    return figure


def _sent(way):
    return [float(count(WAYS[way](num)).busiest) for num in NUMS_RANKS]


def words():
    """Return what each way sends with 4 and with 64 ranks, as text."""
    ends = [f"{way} {_sent(way)[1]:g} with 4 ranks, {_sent(way)[-1]:g} with 64" for way in WAYS]
    return f"Arrays that the busiest rank sends: {'; '.join(ends)}. The ring stays below 2."
