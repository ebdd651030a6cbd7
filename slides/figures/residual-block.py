"""A fork and a join: the residual block of the code beside it."""

from coursekit.pictures import COLORS, GREY
from workshop.slides.drawing import HALF_INCH, arrow, box, diagram

DATA = ()
CAPTION = "A residual block adds its input to what two convolutions make of it."


def draw():
    """Draw the block from bottom to top."""
    figure, axes = diagram(HALF_INCH)
    for y, text, color in (
        (1.35, "Conv2D, ReLU", COLORS[0]),
        (2.3, "Conv2D", COLORS[0]),
        (3.3, "Add", COLORS[1]),
        (4.2, "ReLU", "0.35"),
    ):
        box(axes, (1.9, y), text, (2.3, 0.58), color)
    for start, end in (((1.9, 0.3), (1.9, 1.06)), ((1.9, 1.64), (1.9, 2.0)), ((1.9, 2.59), (1.9, 3.0))):
        arrow(axes, start, end)
    arrow(axes, (1.9, 3.59), (1.9, 3.91))
    axes.plot([1.9, 4.1, 4.1], [0.6, 0.6, 3.3], color=GREY, linewidth=2.5)
    arrow(axes, (4.1, 3.3), (3.06, 3.3))
    axes.plot(1.9, 0.6, "o", color=GREY, markersize=9)
    axes.text(0.95, 0.25, "x", weight="bold", ha="right", va="center", fontsize=20)
    axes.text(4.25, 0.6, "fork", va="center")
    axes.text(4.25, 3.3, "join", va="center")
    axes.text(4.25, 1.95, "shortcut", va="center", color="0.25")
    return figure


def words():
    """Return the text alternative."""
    return (
        "From bottom to top: x forks. One path goes through two convolutions; the other, the shortcut, goes past them. "
        "Both join in an addition, and a ReLU follows."
    )
