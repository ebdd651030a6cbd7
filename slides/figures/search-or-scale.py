"""Four GPUs for four settings, or for one: the first way sends nothing, the second a gradient per step."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, arrow, box, diagram

DATA = ()
CAPTION = "Four GPUs, used in two ways."


def draw():
    """Draw four jobs above, and one job on four GPUs below."""
    figure, axes = diagram(HALF_INCH)
    axes.text(0.2, 4.3, "search: four settings, four jobs", ha="left", va="center", fontweight="bold")
    axes.text(0.2, 1.95, "scale: one setting, one job", ha="left", va="center", fontweight="bold")
    for number in range(4):
        x = 0.8 + 1.37 * number
        box(axes, (x, 3.3), f"rate\n{('0.01', '0.03', '0.1', '0.3')[number]}", (1.1, 1.1), color=COLORS[number])
        box(axes, (x, 0.95), f"rank {number}", (1.1, 0.9), color=COLORS[number])
        if number:
            arrow(axes, (x - 0.83, 0.95), (x - 0.54, 0.95), arrowstyle="<|-|>", mutation_scale=14, shrinkA=0, shrinkB=0)
    return figure


def words():
    """Return what differs, as text."""
    return (
        "Above, four jobs on a GPU each try the learning rates 0.01, 0.03, 0.1 and 0.3 and send nothing; "
        "below, one job on the four GPUs exchanges gradients between its ranks."
    )
