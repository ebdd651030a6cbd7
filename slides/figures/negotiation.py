"""Why ranks negotiate: gradients become ready in different orders; rank 0 counts them and decides which go next."""

from __future__ import annotations

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS, GREY
from workshop.slides.drawing import FULL_INCH, arrow, box, diagram

DATA = ()
CAPTION = "Gradients a to d of one step. A tensor is due when all ranks have named it."
READY = ("dcba", "dbca", "bdca")
RANKS_Y = (3.5, 2.3, 1.1)
FILLS = {"a": "0.15", "b": "0.45", "c": "0.62", "d": "0.85"}
INKS = {"a": "white", "b": "white", "c": "black", "d": "black"}


def draw():
    """Draw the ranks with their own orders, rank 0's list, and the one order that all get back."""
    figure, axes = diagram(FULL_INCH)
    axes.text(3.15, 4.3, "ready, in this order", ha="center", va="center")
    axes.text(7.15, 4.3, "rank 0 counts", ha="center", va="center")
    axes.text(10.2, 4.3, "all do the same", ha="center", va="center")
    for rank, (order, y) in enumerate(zip(READY, RANKS_Y)):
        box(axes, (0.85, y), f"rank {rank}", (1.4, 0.65), COLORS[rank])
        _letters(axes, 1.95, y, order)
        arrow(axes, (4.5, y), (5.75, 2.3 + 0.35 * (1 - rank)), COLORS[rank])
        arrow(axes, (8.45, 2.3 + 0.35 * (1 - rank)), (9.0, y), GREY)
        _letters(axes, 9.1, y, "dbca", 0.55)
    axes.add_patch(Rectangle((5.85, 0.75), 2.55, 3.1, facecolor="white", edgecolor=COLORS[0], linewidth=2.5))
    for line, letter in enumerate("dbca"):
        axes.text(6.1, 3.4 - 0.75 * line, f"{letter}: ranks 0, 1, 2", va="center", fontsize=17)
    return figure


def _letters(axes, x, y, order, width=0.6):
    for place, letter in enumerate(order):
        corner = (x + width * place, y - 0.28)
        axes.add_patch(Rectangle(corner, width - 0.06, 0.56, facecolor=FILLS[letter], edgecolor="0.4", linewidth=1))
        middle = (corner[0] + (width - 0.06) / 2, y)
        axes.text(*middle, letter, ha="center", va="center", color=INKS[letter], fontsize=18)


def words():
    """Return the three orders and the common one as text."""
    own = "; ".join(f"rank {rank}: {', '.join(order)}" for rank, order in enumerate(READY))
    return f"Gradients become ready in different orders: {own}. Rank 0 counts who has named each; all run d, b, c, a."
