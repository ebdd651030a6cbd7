"""Milliseconds per step of two ranks, each on its own core, not pinned, and both on one core."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ("results/pinning",)
CAPTION = "SmallCNN, two ranks, one thread each, in turns; dots: median of each turn; bar: median of all."
LOOK = {"a core each": (COLORS[2], ""), "not pinned": (COLORS[0], "//"), "one core": (COLORS[1], "xx")}


def draw(data):
    """Draw a bar and the turns of each placing."""
    figure, (axes,) = canvas((6.6, 4.4))
    for place, (name, value) in enumerate(data["step_ms"].items()):
        color, hatch = LOOK[name]
        turns = data["turns_ms"][name]
        axes.bar(place, value, width=0.62, color=color, hatch=hatch, edgecolor="white", alpha=0.8)
        spread = [place - 0.2 + 0.4 * turn / (len(turns) - 1) for turn in range(len(turns))]
        axes.plot(spread, turns, "o", color="black", markersize=5)
        axes.annotate(f"{value:.3g}", (place, max(turns)), (0, 8), textcoords="offset points", ha="center")
    axes.set_xticks(range(3), list(data["step_ms"]))
    highest = max(max(turns) for turns in data["turns_ms"].values())
    axes.set(ylabel="ms per step", ylim=(0, 1.15 * highest))
    axes.grid(visible=False, axis="x")
    return figure


def words(data):
    """Return the medians as text."""
    return "Median per step: " + ", ".join(f"{name} {value:.3g} ms" for name, value in data["step_ms"].items()) + "."
