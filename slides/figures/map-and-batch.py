"""A cheap map before batching takes a call for each element; after batching, it takes a call for each batch."""

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, arrow, box, diagram

DATA = ()
CAPTION = "Calls of the function for eight elements."
SIDE = 0.5


def row(axes, y, gap, color):
    """Draw eight elements in two batches."""
    for number in range(8):
        x = 0.3 + number * (SIDE + 0.1) + gap * (number // 4)
        axes.add_patch(Rectangle((x, y - SIDE / 2), SIDE, SIDE, facecolor=color, edgecolor="white"))
        yield x + SIDE / 2


def draw():
    """Draw calls above elements, and calls above batches."""
    figure, axes = diagram(HALF_INCH)
    axes.text(0.3, 4.15, "map, then batch: 8 calls", weight="bold", color=COLORS[1])
    for x in row(axes, 2.85, 0.0, "0.6"):
        box(axes, (x, 3.8), "f", (0.5, 0.42), COLORS[1])
        arrow(axes, (x, 3.58), (x, 3.13), mutation_scale=14)
    axes.text(0.3, 1.75, "batch, then map: 2 calls", weight="bold", color=COLORS[2])
    centers = list(row(axes, 0.4, 0.3, "0.6"))
    for first in (0, 4):
        middle = sum(centers[first : first + 4]) / 4
        axes.add_patch(Rectangle((middle - 1.24, 0.07), 2.48, 0.66, facecolor="none", edgecolor=COLORS[2], linewidth=3))
        box(axes, (middle, 1.38), "f", (2.4, 0.42), COLORS[2])
        arrow(axes, (middle, 1.16), (middle, 0.74), mutation_scale=14)
    return figure


def words():
    """Return the text alternative."""
    return "Eight elements: before batching, the function is called eight times; after batching into fours, twice."
