"""Three batches on one rank, two on the other: an allreduce after each waits for ever, one at the end does not."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import box, diagram

DATA = ()
CAPTION = "Time goes from left to right."
NUM_BATCHES = (3, 2)
DARK = "0.25"  # for collectives, whose usual orange is rank 1's colour here


def draw():
    """Draw both ranks' batches and collectives in two ways."""
    figure, axes = diagram()
    for row, (name, each) in enumerate((("allreduce after each batch", True), ("one allreduce at the end", False))):
        top = 4.25 - row * 2.35
        axes.text(0.1, top, name, fontsize=20, fontweight="bold", va="center")
        for rank, count in enumerate(NUM_BATCHES):
            y = top - 0.62 - rank * 0.82
            axes.text(0.1, y, f"rank {rank}", va="center", color=COLORS[rank], fontsize=18)
            for number in range(count):
                x = 1.75 + number * (2.35 if each else 1.25)
                box(axes, (x, y), f"batch {number + 1}", size=(1.1, 0.58), color=COLORS[rank], fontsize=16)
                if each:
                    box(axes, (x + 1.17, y), "allreduce", size=(1.15, 0.58), color=DARK, fontsize=16)
            if each:
                x = 1.75 + count * 2.35 - 0.45
                text = "waits for ever" if rank == 0 else "has finished"
                axes.text(x, y, text, va="center", fontsize=19, fontweight="bold")
            else:
                box(axes, (6.2, y), "allreduce", size=(1.5, 0.58), color=DARK, fontsize=16)
                axes.text(7.2, y, "both continue", va="center", fontsize=19)
    return figure


def words():
    """Return what happens in both ways, as text."""
    return (
        f"Rank 0 has {NUM_BATCHES[0]} batches, rank 1 has {NUM_BATCHES[1]}. With an allreduce after each, rank 0 waits "
        "in its third one for rank 1, which has finished. With one allreduce after all batches, both take part once."
    )
