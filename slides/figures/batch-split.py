"""Global batch, local batch and world size: with more ranks, the global batch grows or the local one shrinks."""

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import diagram, ink_on

DATA = ()
CAPTION = "Each block is the local batch of one rank; the length of a row is the global batch."
SIZES = (1, 2, 4)
LOCAL, GLOBAL = 64, 256
UNIT = 3.6 / GLOBAL  # inches for a sample
HEIGHT = 0.62


def draw():
    """Draw both ways, a row for each world size."""
    figure, axes = diagram()
    draw_rows(axes, 1.3, "keep the local batch", [[LOCAL] * size for size in SIZES])
    draw_rows(axes, 7.1, "keep the global batch", [[GLOBAL // size] * size for size in SIZES])
    for y, size in zip(heights(), SIZES):
        axes.text(0.05, y + HEIGHT / 2, f"{size} rank{'s' * (size > 1)}", va="center")
    axes.text(1.3, 0.62, "the optimiser sees a larger batch:", va="center", fontsize=17)
    axes.text(1.3, 0.28, "fewer, larger updates", va="center", fontsize=17)
    axes.text(7.1, 0.62, "each rank has less to do:", va="center", fontsize=17)
    axes.text(7.1, 0.28, "communication weighs more", va="center", fontsize=17)
    return figure


def heights():
    """Return the lower edges of the rows."""
    return [3.0 - 0.95 * row for row in range(len(SIZES))]


def draw_rows(axes, left, title, rows):
    """Draw a row of blocks for each world size, and its sum."""
    axes.text(left, 4.3, title, va="center", fontsize=20, weight="bold")
    for y, blocks in zip(heights(), rows):
        x = left
        for rank, size in enumerate(blocks):
            width = size * UNIT
            axes.add_patch(Rectangle((x, y), width, HEIGHT, facecolor=COLORS[rank], edgecolor="white", linewidth=2))
            axes.text(
                x + width / 2, y + HEIGHT / 2, size, color=ink_on(COLORS[rank]), ha="center", va="center", weight="bold"
            )
            x += width
        axes.text(x + 0.08, y + HEIGHT / 2, f"= {sum(blocks)}", va="center")


def words():
    """Return all sizes as text."""
    kept = "; ".join(f"{size} ranks of {LOCAL}: {LOCAL * size}" for size in SIZES)
    shared = "; ".join(f"{size} ranks of {GLOBAL // size}: {GLOBAL}" for size in SIZES)
    return f"Left, the local batch stays and the global batch grows: {kept}. Right, the global batch stays: {shared}."
