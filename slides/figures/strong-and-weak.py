"""Strong scaling divides the same work; weak scaling gives every rank as much work as one had."""

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import diagram

DATA = ()
CAPTION = "A global batch, as squares of 16 images, dealt out to one, two and four ranks."

SIDE = 0.46


def draw():
    """Draw both kinds side by side."""
    figure, axes = diagram()
    _kind(axes, 0.3, "strong scaling", "the global batch stays", lambda ranks: 8 // ranks)
    _kind(axes, 6.1, "weak scaling", "the local batch stays", lambda _: 4)
    axes.plot([5.8, 5.8], [0.2, 4.4], color="0.7", lw=2)
    return figure


def _kind(axes, left, name, what, num_squares):
    """Draw the work of one, two and four ranks, row by row."""
    axes.text(left, 4.3, name, ha="left", va="center", fontweight="bold")
    axes.text(left + 2.25, 4.3, what, ha="left", va="center")
    for row, num_ranks in enumerate((1, 2, 4)):
        y = 3.3 - 1.34 * row
        axes.text(left, y + SIDE / 2, f"{num_ranks} rank{'s' if num_ranks > 1 else ''}", ha="left", va="center")
        x = left + 1.25
        for rank in range(num_ranks):
            for number in range(num_squares(num_ranks)):
                corner = (x + SIDE * (number % 4), y + SIDE * (0.5 - number // 4 if num_squares(num_ranks) > 4 else 0))
                axes.add_patch(Rectangle(corner, SIDE * 0.92, SIDE * 0.92, facecolor=COLORS[rank]))
            x += SIDE * min(4, num_squares(num_ranks)) + (0.14 if num_squares(num_ranks) == 4 else 0.1)
            if num_squares(num_ranks) == 4 and rank == 1 and num_ranks == 4:
                x, y = left + 1.25, y - 1.15 * SIDE


def words():
    """Return what stays and what grows, as text."""
    return (
        "Strong scaling: a global batch of 8 squares is divided: 8 for one rank, 4 each for two, 2 each for four. "
        "Weak scaling: each rank always has 4 squares, so the global batch grows from 4 to 8 and 16."
    )
