"""One script, four processes: the launcher starts it on every rank, and the rank decides what each process does."""

from __future__ import annotations

from coursekit.pictures import COLORS, GREY
from workshop.slides.drawing import FULL_INCH, arrow, box, diagram

DATA = ()
CAPTION = "The launcher starts one process per rank, all with the same program."
XS = (1.6, 4.4, 7.2, 10.0)


def draw():
    """Draw the script above, the four ranks below, and what differs between them."""
    figure, axes = diagram(FULL_INCH)
    box(axes, (5.8, 4.1), "train.py", (2.6, 0.75), "0.25", fontsize=20)
    for rank, x in enumerate(XS):
        arrow(axes, (5.8, 3.7), (x, 2.85), GREY)
        box(axes, (x, 2.5), f"rank {rank}", (2.3, 0.65), COLORS[rank])
        lines = f"hvd.rank() = {rank}\nshard {rank} of 4\n" + ("writes files" if rank == 0 else "writes nothing")
        axes.text(x, 1.45, lines, ha="center", va="center", fontsize=17, linespacing=1.5)
    for left, right in zip(XS, XS[1:]):
        arrow(axes, (left + 1.15, 2.5), (right - 1.15, 2.5), GREY, arrowstyle="<|-|>", mutation_scale=12)
    axes.text(5.8, 0.35, "hvd.size() = 4 on all of them", ha="center", va="center", fontsize=18)
    return figure


def words():
    """Return what is the same and what differs, as text."""
    return (
        "The script train.py is started four times, as ranks 0 to 3. Each has its own rank and shard; the size "
        "is 4 on all; only rank 0 writes files."
    )
