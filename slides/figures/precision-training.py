"""The losses of the same training in FP32, in FP16 alone, and in mixed precision."""

from __future__ import annotations

import numpy as np

from coursekit.pictures import COLORS, MARKERS
from workshop.slides.drawing import canvas

DATA = ("results/mixed-precision",)
CAPTION = "A small CNN with Adam, same data and start; means of a few steps."
NAMES = {
    "float32": "FP32",
    "float16": "FP16 alone",
    "mixed, no scale": "mixed, no loss scale",
    "mixed, scaled": "mixed, loss scale",
}
LINES = ("-", "", "--", ":")


def draw(data):
    """Draw the loss of each way as long as it is a number."""
    figure, (axes,) = canvas((7.2, 4.7))
    for index, (name, way) in enumerate(data["ways"].items()):
        steps = data["every"] * (np.arange(len(way["losses"])) + 1)
        losses = [np.nan if loss is None else loss for loss in way["losses"]]
        width = 6 if name == "float32" else 2.5
        axes.plot(
            steps, losses, color=COLORS[(0, 1, 2, 7)[index]], linestyle=LINES[index] or "-", linewidth=width,
            alpha=0.35 if name == "float32" else 1, marker=MARKERS[index], markevery=4,
        )  # fmt: skip
        if way["first_bad_step"]:
            axes.axvline(way["first_bad_step"], color=COLORS[1], linewidth=2, linestyle="-.")
            axes.text(
                way["first_bad_step"] + 3, 0.12, "FP16 alone: not a\nnumber from here on", color=COLORS[1], va="bottom"
            )
    axes.set(xlabel="step", ylabel="loss", ylim=(0, None), xlim=(0, None))
    axes.text(44, 1.45, "FP32, and mixed with\nor without a loss scale:\none curve", va="bottom")
    return figure


def words(data):
    """Return the last loss of each way as text."""
    described = []
    for name, way in data["ways"].items():
        last = way["losses"][-1]
        ending = f"ends at {last:.3g}" if last is not None else f"is not a number from step {way['first_bad_step']} on"
        described.append(f"{NAMES[name]}: the loss {ending}")
    return "; ".join(described) + "."
