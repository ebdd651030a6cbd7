"""A deadlock: one rank has one batch more than the other, and waits in an allreduce that no other rank joins."""

from __future__ import annotations

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS, GREY
from workshop.slides.drawing import COLLECTIVE, HALF_INCH, WAIT, arrow, box, diagram

DATA = ()
CAPTION = "Batches and the allreduces that join them."
LEFT, STEP = 1.75, 1.35
TOP, BOTTOM = 3.4, 1.4
BATCHES = (3, 2)  # of the two ranks


def draw():
    """Draw a lane for each rank, its batches, and the allreduce after each."""
    figure, axes = diagram(HALF_INCH)
    for rank, y in enumerate((TOP, BOTTOM)):
        box(axes, (0.75, y), f"rank {rank}", (1.3, 0.65), COLORS[rank])
        for batch in range(BATCHES[rank]):
            box(axes, (LEFT + 0.45 + STEP * batch, y), "batch", (0.95, 0.65), COLORS[rank], fontsize=16, filled=False)
    joined = min(BATCHES)
    for batch in range(joined):
        x = LEFT + 1.11 + STEP * batch
        axes.add_patch(Rectangle((x - 0.1, BOTTOM - 0.45), 0.2, TOP - BOTTOM + 0.9, facecolor=COLLECTIVE, linewidth=0))
    x = LEFT + 1.11 + STEP * joined
    axes.add_patch(
        Rectangle((x - 0.1, TOP - 0.45), 0.2, 0.9, facecolor=WAIT, edgecolor=COLLECTIVE, linestyle="--", linewidth=2)
    )
    axes.text(x - 0.55, TOP - 0.75, "waits\nalone", ha="center", va="top", color="black")
    axes.text(x - 0.55, BOTTOM, "done", ha="center", va="center")
    axes.text(LEFT + 1.11 + STEP / 2, 4.25, "allreduce", ha="center", va="center", fontsize=16)
    for batch in range(joined):
        arrow(axes, (LEFT + 1.11 + STEP / 2, 4.1), (LEFT + 1.11 + STEP * batch, 3.87), GREY, linewidth=1.5)
    return figure


def words():
    """Return which rank waits, as text."""
    return (
        f"Rank 0 has {BATCHES[0]} batches, rank 1 has {BATCHES[1]}. After two allreduces, rank 1 has "
        "finished, and rank 0 waits alone in the third."
    )
