"""DDP's buckets in one backward pass, as sent: gradients become ready from the last layer to the first."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import COMMUNICATE, arrow, box, diagram

DATA = ("results/pytorch",)
CAPTION = "One backward pass on two ranks, from left to right: events are in order, but not to scale."
MIB = 2**20
STEP, READY, LEAVES = 1.0, 3.0, 1.1  # distance of events, heights of the two rows


def draw(data):
    """Draw a box for each gradient when it is ready, and one below it when its bucket leaves."""
    figure, axes = diagram((11.6, 4.2))
    axes.text(0.1, READY + 0.9, "backward pass: the gradient of layer … is ready", va="center", weight="bold")
    axes.text(0.1, LEAVES - 0.9, "a bucket leaves; its allreduce runs meanwhile", va="center", weight="bold")
    x, begun = 0.0, None
    for kind, value in data["events"]:
        if kind == "ready":
            x += STEP
            begun = begun or x
            box(axes, (x - 0.4, READY), str(value), (0.85, 0.85), COLORS[0])
        else:
            middle = (begun + x) / 2 - 0.4
            box(axes, (middle, LEAVES), f"{value / MIB:.0f} MiB", (x - begun + 0.85, 0.85), COMMUNICATE)
            arrow(axes, (x - 0.4, READY - 0.5), (x - 0.4, LEAVES + 0.5), COMMUNICATE)
            begun = None
    return figure


def words(data):
    """Return the events in order, as text."""
    said = [
        f"layer {value} is ready" if kind == "ready" else f"a bucket of {value / MIB:.0f} MiB leaves"
        for kind, value in data["events"]
    ]
    return f"In this order: {'; '.join(said)}."
