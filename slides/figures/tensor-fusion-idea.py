"""Tensor fusion: many small messages, each with its latency, or one copy into a buffer and one message."""

from __future__ import annotations

from matplotlib.patches import Rectangle

from coursekit.lecture.slides.drawing import FULL_INCH, arrow, diagram
from coursekit.pictures import COLORS

DATA = ()
CAPTION = "Eight small tensors, one after another and in one buffer."
SIZES = (0.25, 0.12, 0.3, 0.1, 0.22, 0.12, 0.28, 0.1)
ALPHA, HEIGHT, LEFT = 0.7, 0.8, 2.6
NAMES = ("one by one", "fused")


def draw():
    """Draw the two ways along the time."""
    figure, axes = diagram(FULL_INCH)
    for x, kind, label in ((2.6, "latency", "latency, negotiation"), (6.6, "bytes", "bytes"), (8.6, "copy", "copies")):
        _bar(axes, x, 4.3, 0.35, kind, 0.35)
        axes.text(x + 0.5, 4.3, label, va="center")
    axes.text(LEFT - 0.3, 3.2, NAMES[0], ha="right", va="center", fontsize=20)
    x = LEFT
    for size in SIZES:
        _bar(axes, x, 3.2, ALPHA, "latency")
        _bar(axes, x + ALPHA, 3.2, size, "bytes")
        x += ALPHA + size
    axes.text(LEFT - 0.3, 1.9, NAMES[1], ha="right", va="center", fontsize=20)
    total = sum(SIZES)
    parts = ((0.35, "copy"), (ALPHA, "latency"), (total, "bytes"), (0.35, "copy"))
    x = LEFT
    for width, kind in parts:
        _bar(axes, x, 1.9, width, kind)
        x += width
    axes.text(x + 0.3, 1.9, "one latency for all", va="center")
    arrow(axes, (LEFT, 1.05), (11.2, 1.05), "black")
    axes.text(6.9, 0.65, "time", ha="center", va="center")
    return figure


def _bar(axes, x, y, width, kind, height=HEIGHT):  # noqa: PLR0913, PLR0917  # a place, a size, a kind
    styles = {
        "latency": {"facecolor": "white", "edgecolor": COLORS[1], "hatch": "///", "linewidth": 1.5},
        "bytes": {"facecolor": COLORS[0], "linewidth": 0},
        "copy": {"facecolor": "0.7", "linewidth": 0},
    }
    axes.add_patch(Rectangle((x, y - height / 2), width, height, **styles[kind]))


def words():
    """Tell both ways."""
    return (
        f"One by one, {len(SIZES)} small tensors pay {len(SIZES)} latencies. Fused, they are copied into one buffer, "
        "sent with a single latency, and copied out again."
    )
