"""What a message costs: latency for every step, and time for every byte; three cases on one time axis."""

from __future__ import annotations

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import FULL_INCH, arrow, diagram

DATA = ()
CAPTION = "In a step, every rank sends at most one message and receives at most one, at the same time."
LEFT, HEIGHT = 2.9, 0.75
ALPHA = 0.62
ROWS = (
    (3.85, "small array", (0.12,)),
    (2.75, "large array", (3.6,)),
    (1.65, "large array\nin six steps", (0.6,) * 6),
)


def draw():
    """Draw three rows of latency (hatched) and bytes (full) along the time axis."""
    figure, axes = diagram(FULL_INCH)
    for y, label, messages in ROWS:
        axes.text(LEFT - 0.25, y, label, ha="right", va="center")
        x = LEFT
        for width in messages:
            late = {"facecolor": "white", "edgecolor": COLORS[1], "hatch": "///", "linewidth": 2}
            axes.add_patch(Rectangle((x, y - HEIGHT / 2), ALPHA, HEIGHT, **late))
            axes.add_patch(Rectangle((x + ALPHA, y - HEIGHT / 2), width, HEIGHT, facecolor=COLORS[0], linewidth=0))
            x += ALPHA + width
    axes.text(LEFT + 1.0, 3.85, "nearly all is latency $\\alpha$: paid for every step", va="center", color="black")
    axes.text(LEFT + 4.45, 2.75, "nearly all is bytes $\\cdot\\ \\beta$;\nthe bandwidth is $1/\\beta$", va="center")
    arrow(axes, (LEFT, 0.7), (LEFT + 8.2, 0.7), "black")
    axes.text(LEFT + 4.1, 0.35, "time", ha="center", va="center")
    return figure


def words():
    """Return the three rows as text."""
    return (
        "Three bars along a time axis. A small array is nearly all latency. A large one: one latency, then many bytes. "
        "The same large array in six steps pays the latency six times."
    )
