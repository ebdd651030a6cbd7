"""A training step in mixed precision: what is FP32, what is FP16, and where the loss is scaled and unscaled."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, box, diagram

DATA = ()
CAPTION = "Filled: FP16. Framed: FP32."
HALF, FULL = COLORS[1], COLORS[0]
SIZE = (2.45, 0.95)


def draw():
    """Draw the cycle of a step."""
    figure, axes = diagram((11.6, 4.4))
    top, bottom = 3.5, 1.3
    x = (1.45, 4.35, 7.25, 10.15)
    box(axes, (x[0], top), "master\nweights", SIZE, FULL, filled=False, weight="bold")
    box(axes, (x[1], top), "weights,\nrounded", SIZE, HALF)
    box(axes, (x[2], top), "forward:\nactivations", SIZE, HALF)
    box(axes, (x[3], top), "loss", SIZE, FULL, filled=False)
    box(axes, (x[3], bottom), "loss · S", SIZE, FULL, filled=False)
    box(axes, (x[2], bottom), "backward:\ngradients · S", SIZE, HALF)
    box(axes, (x[1], bottom), "average,\n÷ S, check", SIZE, FULL, filled=False)
    box(axes, (x[0], bottom), "optimiser:\nits state", SIZE, FULL, filled=False)
    half = SIZE[0] / 2
    for left, right in zip(x, x[1:]):
        arrow(axes, (left + half, top), (right - half, top))
        arrow(axes, (right - half, bottom), (left + half, bottom))
    arrow(axes, (x[3], top - 0.48), (x[3], bottom + 0.48))
    arrow(axes, (x[0], bottom + 0.48), (x[0], top - 0.48))
    axes.text((x[0] + x[1]) / 2, top + 0.62, "cast", ha="center")
    axes.text((x[1] + x[2]) / 2, 0.2, "not finite? skip the step, halve S", ha="center", color=COLORS[1])
    arrow(axes, (x[1] + 0.3, bottom - 0.48), (x[1] + 0.3, 0.38), COLORS[1], linewidth=2)
    return figure


def words():
    """Return the order as text."""
    return (
        "Master weights in FP32 are cast to FP16 for the forward pass; the loss is FP32, multiplied by the scale S; "
        "the backward pass is FP16; gradients are cast to FP32, averaged over the ranks, divided by S and checked; "
        "the optimiser updates the master weights in FP32. If one is not finite, the step is skipped and S is halved."
    )
