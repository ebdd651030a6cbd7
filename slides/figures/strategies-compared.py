"""Milliseconds per step with Horovod and with MultiWorkerMirroredStrategy, each run a dot."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ("results/strategies",)
CAPTION = "A small CNN on two processes of one machine; runs in turns, one dot each; bar and number: median."
LOOK = {"Horovod": (COLORS[0], ""), "strategy": (COLORS[1], "//")}
NAMES = {"Horovod": "Horovod,\nGloo", "strategy": "MultiWorkerMirrored,\ngRPC ring"}


def draw(data):
    """Draw a bar and its runs for each way."""
    figure, (axes,) = canvas((6.6, 4.5))
    for place, (way, runs) in enumerate(data["runs_ms"].items()):
        color, hatch = LOOK[way]
        axes.bar(place, data["step_ms"][way], width=0.5, color=color, hatch=hatch, edgecolor="white", alpha=0.8)
        axes.plot([place - 0.12, place, place + 0.12][: len(runs)], runs, "o", color="black", markersize=6)
        middle, ground = data["step_ms"][way] / 2, {"facecolor": "white", "edgecolor": "none", "pad": 3}
        axes.text(place, middle, f"{data['step_ms'][way]:.2g}", ha="center", va="center", bbox=ground)
    axes.set_xticks(range(2), [NAMES[way] for way in data["runs_ms"]])
    highest = max(max(runs) for runs in data["runs_ms"].values())
    axes.set(ylabel="ms per step", ylim=(0, 1.2 * highest), xlim=(-0.6, 1.6))
    axes.grid(visible=False, axis="x")
    return figure


def words(data):
    """Return the medians as text."""
    return "Median per step: " + ", ".join(f"{way} {value:.2g} ms" for way, value in data["step_ms"].items()) + "."
