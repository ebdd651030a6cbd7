"""Where gradients are averaged: Horovod hooks into the optimiser, DDP into the model's backward pass."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import COMMUNICATE, arrow, box, diagram

DATA = ()
CAPTION = "One rank; the dashed frame is what the library wraps. Gradients are sent as soon as a bundle is complete."
MODEL, OPTIMIZER = COLORS[0], COLORS[2]


def draw():
    """Draw both chains, one above the other."""
    figure, axes = diagram((11.6, 4.5))
    x = (3.45, 6.0, 10.0)
    # Of each library: height, name, centre and width of its frame.
    for y, name, center, width in ((3.35, "Horovod", 10.0, 2.3), (1.1, "DDP", 4.75, 4.9)):
        axes.text(1.1, y, name, ha="center", va="center", weight="bold", fontsize=22)
        for place, word, color in zip(x, ("forward", "backward", "optimiser"), (MODEL, MODEL, OPTIMIZER)):
            box(axes, (place, y), word, (1.8, 0.85), color)
        arrow(axes, (x[0] + 0.9, y), (x[1] - 0.9, y))
        arrow(axes, (x[1] + 0.9, y), (x[2] - 0.9, y))
        _wrap(axes, center, y, width)
        for place in (5.7, 6.2, 6.7, 7.2):
            axes.plot([place], [y - 0.55], "D", color=COMMUNICATE, markersize=13, zorder=5)
        axes.text(7.45, y - 0.55, "average", va="center", color=COMMUNICATE, weight="bold")
    return figure


def _wrap(axes, center, y, width):
    from matplotlib.patches import FancyBboxPatch  # one use

    place = (center - width / 2, y - 0.75)
    options = {"facecolor": "none", "edgecolor": COMMUNICATE, "linewidth": 3, "linestyle": "--"}
    axes.add_patch(FancyBboxPatch(place, width, 1.5, boxstyle="round,pad=0.05", **options))


def words():
    """Return what is wrapped, as text."""
    return (
        "Both run forward, backward, optimiser, and average gradients while the backward pass runs. "
        "Horovod wraps the optimiser; DDP wraps the model, and any optimiser may follow."
    )
