"""What allreduce does: every rank starts with its own numbers, reduce sums them, and in the end all have the sums."""

from __future__ import annotations

import numpy as np
from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS, GREY
from workshop.slides.drawing import FULL_INCH, arrow, diagram, ink_on

DATA = ()
CAPTION = "Reduce leaves the sum on one rank; broadcast sends it to all; allreduce does both at once."
NUMBERS = np.array([[3, 1, 4], [1, 5, 9], [2, 6, 5], [3, 5, 8]])
TOTAL = NUMBERS.sum(axis=0)
COLUMNS = ((2.3, "before"), (5.8, "reduce to rank 0"), (9.4, "broadcast to all"))
CELL = (0.72, 0.62)
SUM_COLOR = "0.25"


def draw():
    """Draw four ranks in rows, and three moments in columns."""
    figure, axes = diagram(FULL_INCH)
    for x, title in COLUMNS:
        axes.text(x, 4.3, title, ha="center", va="center", weight="bold")
    for rank in range(4):
        y = 3.45 - 0.97 * rank
        axes.text(0.1, y, f"rank {rank}", va="center", weight="bold")
        _row(axes, (COLUMNS[0][0], y), NUMBERS[rank], COLORS[rank], ink_on(COLORS[rank]))
        _row(axes, (COLUMNS[1][0], y), TOTAL if rank == 0 else None, SUM_COLOR)
        _row(axes, (COLUMNS[2][0], y), TOTAL, SUM_COLOR)
        arrow(axes, (3.45, y), (4.65, 3.45 - 0.08 * rank), COLORS[rank])
        arrow(axes, (6.95, 3.45 - 0.08 * rank), (8.25, y), GREY)
    return figure


def _row(axes, center, numbers, color, ink="white"):
    x, y = center
    for column in range(3):
        corner = (x + (column - 1.5) * CELL[0], y - CELL[1] / 2)
        full = numbers is not None
        axes.add_patch(Rectangle(corner, *CELL, facecolor=color if full else "white", edgecolor="0.8", linewidth=1.5))
        if full:
            middle = (corner[0] + CELL[0] / 2, y - 0.01)
            axes.text(*middle, str(numbers[column]), ha="center", va="center", color=ink, fontsize=20)


def words():
    """Return the numbers as text."""
    owned = "; ".join(f"rank {rank} has {', '.join(map(str, row))}" for rank, row in enumerate(NUMBERS))
    return f"Before: {owned}. After the allreduce, all four have the sums {', '.join(map(str, TOTAL))}."
