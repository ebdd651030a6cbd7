"""Tensor fusion: many small messages, each with its latency, or one copy into a buffer and one message."""

from __future__ import annotations

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import FULL_INCH, arrow, diagram

DATA = ()
CAPTION = "Eight small tensors, one after another and in one buffer."
SIZES = (0.25, 0.12, 0.3, 0.1, 0.22, 0.12, 0.28, 0.1)
ALPHA, HEIGHT, LEFT = 0.7, 0.8, 2.6
NAMES = ("one by one", "fused")


def draw():
    """Draw the two ways along the time."""
    figure, axes = diagram(FULL_INCH)
    axes.text(LEFT - 0.3, 3.4, NAMES[0], ha="right", va="center", fontsize=20)
    axes.text(LEFT, 3.88, "latency, negotiation", color=COLORS[1], va="bottom")
    x = LEFT
    for size in SIZES:
        _bar(axes, x, 3.4, ALPHA, "latency")
        _bar(axes, x + ALPHA, 3.4, size, "bytes")
        x += ALPHA + size
    axes.text(LEFT - 0.3, 1.9, NAMES[1], ha="right", va="center", fontsize=20)
    total = sum(SIZES)
    parts = ((0.35, "copy"), (ALPHA, "latency"), (total, "bytes"), (0.35, "copy"))
    x = LEFT
    for width, kind in parts:
        _bar(axes, x, 1.9, width, kind)
        name, ink = {"latency": ("", ""), "bytes": ("bytes", COLORS[0]), "copy": ("copy", "0.35")}[kind]
        axes.text(x + width / 2, 2.36, name, color=ink or None, ha="center", va="bottom")
        x += width
    axes.text(x + 0.3, 1.9, "one latency for all", va="center")
    arrow(axes, (LEFT, 1.05), (11.2, 1.05), "black")
    axes.text(6.9, 0.65, "time", ha="center", va="center")
    return figure


def _bar(axes, x, y, width, kind):
    styles = {
        "latency": {"facecolor": "white", "edgecolor": COLORS[1], "hatch": "///", "linewidth": 1.5},
        "bytes": {"facecolor": COLORS[0], "linewidth": 0},
        "copy": {"facecolor": "0.7", "linewidth": 0},
    }
    axes.add_patch(Rectangle((x, y - HEIGHT / 2), width, HEIGHT, **styles[kind]))


def words():
    """Tell both ways."""
    return (
        f"One by one, {len(SIZES)} small tensors pay {len(SIZES)} latencies. Fused, they are copied into one buffer, "
        "sent with a single latency, and copied out again."
    )
