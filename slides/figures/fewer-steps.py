"""An epoch on one rank and on four: the same samples, a quarter of the updates."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, box, diagram

DATA = ()
CAPTION = "One epoch of eight batches; an arrow is an update of the weights."
NUM_BATCHES, NUM_RANKS = 8, 4
LEFT, STEP = 2.9, 1.02


def draw():
    """Draw eight batches in a row, then in two columns of four."""
    figure, axes = diagram()
    axes.text(0.1, 3.75, "1 rank", fontsize=20, fontweight="bold", va="center")
    axes.text(0.1, 3.35, "8 updates", va="center")
    for number in range(NUM_BATCHES):
        x = LEFT + number * STEP
        box(axes, (x, 3.75), f"{number + 1}", size=(0.62, 0.62), color=COLORS[0])
        arrow(axes, (x + 0.33, 3.75), (x + STEP - 0.33, 3.75), shrinkA=0, shrinkB=0, mutation_scale=14)
    axes.text(0.1, 1.75, "4 ranks", fontsize=20, fontweight="bold", va="center")
    axes.text(0.1, 1.35, "2 updates", va="center")
    for column in range(NUM_BATCHES // NUM_RANKS):
        x = LEFT + column * 3.1
        for rank in range(NUM_RANKS):
            text = f"{column * NUM_RANKS + rank + 1}"
            box(axes, (x, 2.55 - rank * 0.7), text, size=(0.62, 0.6), color=COLORS[rank])
            if not column:
                axes.text(x - 0.5, 2.55 - rank * 0.7, f"rank {rank}", ha="right", va="center", fontsize=16)
        arrow(axes, (x + 0.45, 1.5), (x + 3.1 - 0.45, 1.5), linewidth=5, mutation_scale=34)
        axes.text(x + 1.55, 1.85, "one update", ha="center", fontsize=16)
    axes.text(8.95, 1.5, "each from 4 times\nas many samples", va="center", fontsize=18)
    return figure


def words():
    """Return what the two rows show, as text."""
    return (
        "One epoch of eight batches. One rank makes eight updates, one after another. "
        "Four ranks take four batches at once, one each, and make two updates, each from four times as many samples."
    )
