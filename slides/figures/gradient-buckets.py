"""DDP's buckets: gradients become ready from the last layer to the first, and a full bucket is sent at once."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import COMMUNICATE, arrow, box, diagram

DATA = ()
CAPTION = "Sizes are made up. Layer 6 is the last layer, and the first to be ready."
BUCKETS = ((("6", 0.8),), (("5", 1.2), ("4", 0.9)), (("3", 0.8), ("2", 0.7), ("1", 0.6)))
HEIGHT, LEFT, SCALE = 0.75, 1.35, 1.0


def draw():
    """Draw three buckets with their layers, and an arrow where each is sent."""
    figure, axes = diagram((5.7, 4.4))
    axes.text(0.1, 4.1, "backward pass", va="center", weight="bold")
    arrow(axes, (0.45, 3.8), (0.45, 0.25), COLORS[0], linewidth=4)
    for number, layers in enumerate(BUCKETS):
        y = 3.3 - 1.25 * number
        x = LEFT
        for layer, size in layers:
            box(axes, (x + size / 2, y), layer, (size - 0.06, HEIGHT), COLORS[0])
            x += size
        arrow(axes, (x + 0.1, y), (4.35, y), COMMUNICATE)
        axes.text(4.45, y, "send", va="center", color=COMMUNICATE, weight="bold")
        axes.text(LEFT, y - 0.58, f"bucket {number + 1}", va="center", fontsize=16, color="0.3")
    return figure


def words():
    """Return which layers share a bucket, as text."""
    rows = [
        f"bucket {number}: layers {', '.join(layer for layer, _ in layers)}" for number, layers in enumerate(BUCKETS, 1)
    ]
    return f"From top to bottom, as in the backward pass: {'; '.join(rows)}. Each is sent when it is full."
