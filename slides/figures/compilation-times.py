"""Seconds of the first step, and milliseconds of a later one: eager, as a graph, and compiled by XLA."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ("results/compilation",)
CAPTION = "A perceptron with many small layers, and Adam; medians, measured in turns."
LOOK = {"eager": (COLORS[0], ""), "graph": (COLORS[1], "//"), "XLA": (COLORS[2], "..")}


def draw(data):
    """Draw bars of the first and of later steps."""
    figure, panels = canvas((7.2, 4.5), num_panels=2)
    for axes, title, values, unit in zip(
        panels, ("first step", "each later step"), (data["first_s"], data["step_ms"]), ("seconds", "milliseconds")
    ):
        for place, (way, value) in enumerate(values.items()):
            color, hatch = LOOK[way]
            axes.bar(place, value, width=0.7, color=color, hatch=hatch, edgecolor="white")
            axes.text(place, value, f"{value:.2g}", ha="center", va="bottom")
        axes.set_xticks(range(3), list(values))
        axes.set(title=title, ylabel=unit, ylim=(0, 1.15 * max(values.values())))
        axes.grid(visible=False, axis="x")
    return figure


def words(data):
    """Return all six times as text."""
    first = ", ".join(f"{way} {value:.2g} s" for way, value in data["first_s"].items())
    later = ", ".join(f"{way} {value:.2g} ms" for way, value in data["step_ms"].items())
    return f"First step: {first}. Each later step: {later}."
