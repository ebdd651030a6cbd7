"""A ring of four ranks, each with an array of four chunks; all links work at the same time."""

from __future__ import annotations

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, arrow, box, diagram

DATA = ()
CAPTION = "Each rank sends to the next and receives from the one before, a quarter of the array at a time."
CENTERS = ((1.25, 3.6), (4.45, 3.6), (4.45, 1.0), (1.25, 1.0))


def draw():
    """Draw four boxes in a square, their chunks below, and an arrow along each side."""
    figure, axes = diagram(HALF_INCH)
    for rank, (x, y) in enumerate(CENTERS):
        box(axes, (x, y + 0.25), f"rank {rank}", (1.6, 0.6), COLORS[rank])
        for chunk in range(4):
            sends = chunk == rank
            corner = (x - 0.8 + 0.4 * chunk, y - 0.5)
            face = COLORS[rank] if sends else "white"
            axes.add_patch(Rectangle(corner, 0.4, 0.4, facecolor=face, edgecolor=COLORS[rank], linewidth=2))
            ink = "white" if sends and rank < 3 else "black"
            axes.text(corner[0] + 0.2, corner[1] + 0.19, str(chunk), ha="center", va="center", fontsize=16, color=ink)
    arrow(axes, (2.15, 3.7), (3.55, 3.7), COLORS[0])
    arrow(axes, (4.45, 2.98), (4.45, 1.65), COLORS[1])
    arrow(axes, (3.55, 1.1), (2.15, 1.1), COLORS[2])
    arrow(axes, (1.25, 1.65), (1.25, 2.98), COLORS[3])
    labels = ((2.85, 4.0, "chunk 0"), (5.2, 2.3, "chunk 1"), (2.85, 0.75, "chunk 2"), (0.5, 2.3, "chunk 3"))
    for x, y, label in labels:
        axes.text(x, y, label, ha="center", va="center", fontsize=16)
    return figure


def words():
    """Return which rank first sends what to which rank, as text."""
    sent = ", ".join(f"rank {rank} sends chunk {rank} to rank {(rank + 1) % 4}" for rank in range(4))
    return f"Four ranks in a ring, each with an array of four chunks. At the same time, {sent}."
