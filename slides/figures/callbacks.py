"""When `fit` calls the callbacks on two ranks, and which rank has which callback."""

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, diagram

DATA = ()
CAPTION = "Two epochs of four steps on two ranks."
STARTS = (1.7, 6.3)  # where the epochs begin
STEP = 0.72
RANKS = (3.0, 1.45)


def mark(axes, x, text, color, style="-"):
    """Draw a line over both ranks at a moment, and below them what happens."""
    axes.plot([x] * 2, [RANKS[0] + 0.42, RANKS[1] - 0.42], color=color, linewidth=6, linestyle=style)
    axes.text(x, RANKS[1] - 0.55, text, ha="center", va="top", color=color)


def draw():
    """Draw both ranks' steps, and the callbacks above and below them."""
    figure, axes = diagram()
    for rank, y in enumerate(RANKS):
        axes.text(0.1, y, f"rank {rank}", va="center", weight="bold", color=COLORS[rank])
        for start in STARTS:
            for step in range(4):
                place = (start + STEP * step, y - 0.32)
                axes.add_patch(Rectangle(place, STEP - 0.14, 0.64, facecolor=COLORS[rank], edgecolor="white"))
    for number, start in enumerate(STARTS):
        axes.text(start + 2.5 * STEP, sum(RANKS) / 2, f"epoch {number + 1}", ha="center", va="center")
        end = start + 4 * STEP + 0.1
        mark(axes, end, "MetricAverage", COLORS[2], ":")
        arrow(axes, (end + 0.25, 3.85), (end + 0.25, RANKS[0] + 0.2), "0.2")
        axes.text(end + 0.25, 3.95, "ModelCheckpoint,\nTensorBoard", ha="center", va="bottom", color="0.2")
    mark(axes, STARTS[0] + STEP - 0.07, "Broadcast", COLORS[4])
    return figure


def words():
    """Return the text alternative."""
    return (
        "Two ranks run two epochs of four steps. After the first step, rank 0 broadcasts its weights to all. After "
        "each epoch, MetricAverage averages losses and metrics over all ranks; then, on rank 0 only, ModelCheckpoint "
        "saves the weights and TensorBoard writes its log."
    )
