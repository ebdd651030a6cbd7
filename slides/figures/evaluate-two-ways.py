"""An evaluation of eleven files, by rank 0 alone and by three ranks."""

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import COLLECTIVE, arrow, box, diagram

DATA = ()
CAPTION = "Eleven held-out files and three ranks; a square is a file."
NUM_FILES, NUM_RANKS, SQUARE = 11, 3, 0.3
PLACES = (3.0, 2.0, 1.0)  # of the ranks, in inches


def draw():
    """Draw both ways side by side."""
    figure, axes = diagram()
    axes.text(2.75, 4.2, "rank 0 alone", ha="center", va="center", fontsize=22, fontweight="bold")
    axes.text(8.7, 4.2, "each rank its own files", ha="center", va="center", fontsize=22, fontweight="bold")
    axes.plot([5.55, 5.55], [0.3, 4.4], color="0.8", linewidth=2)
    for rank, y in enumerate(PLACES):
        for left in (0.1, 5.75):
            axes.text(left, y, f"rank {rank}", va="center", fontsize=19, fontweight="bold", color=COLORS[rank])
        if rank:
            axes.text(1.25, y, "waits", va="center", fontsize=19, color="0.35")
        own = range(rank, NUM_FILES, NUM_RANKS)
        box(axes, (7.35, y), "path", size=(0.85, 0.7), color=COLLECTIVE, fontsize=17)
        _files(axes, 8.0, y, len(own), COLORS[rank])
        arrow(axes, (9.3, y), (9.75, 2.0 + 0.25 * (1 - rank)), mutation_scale=18)
    for rank in range(NUM_RANKS - 1):
        arrow(axes, (7.35, PLACES[rank] - 0.36), (7.35, PLACES[rank + 1] + 0.36), COLLECTIVE, mutation_scale=16)
    _files(axes, 1.25, PLACES[0], NUM_FILES, COLORS[0])
    box(axes, (10.6, 2.0), "allreduce\nsum of right,\nof images", size=(1.6, 1.5), color=COLLECTIVE, fontsize=17)
    axes.text(7.35, 3.62, "1. checkpoint", ha="center", va="center", fontsize=16)
    axes.text(9.2, 0.35, "2. own files", ha="right", va="center", fontsize=16)
    axes.text(10.6, 0.95, "3. one number", ha="center", va="center", fontsize=16)
    return figure


def _files(axes, x, y, count, color):
    for number in range(count):
        corner = (x + number * (SQUARE + 0.02), y - SQUARE / 2)
        axes.add_patch(Rectangle(corner, SQUARE - 0.05, SQUARE, facecolor=color))


def words():
    """Return what both ways do, as text."""
    shares = ", ".join(str(len(range(rank, NUM_FILES, NUM_RANKS))) for rank in range(NUM_RANKS))
    return (
        f"Left: rank 0 evaluates all {NUM_FILES} files, and the others wait. Right: rank 0 sends the path of its "
        f"checkpoint, the ranks evaluate {shares} files each, and right answers and images are summed."
    )
