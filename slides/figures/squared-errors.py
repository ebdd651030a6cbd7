"""The loss as a picture: every error is the side of a square, and the loss is the mean of the squares' areas."""

import numpy as np
from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, canvas

DATA = ()
CAPTION = "Each error is drawn as a square: the loss is their mean area."
SLOPE, OFFSET = 0.55, 0.7
X = np.array([0.75, 1.15, 2.45, 3.05, 4.5])
Y = np.array([1.6, 0.75, 3.15, 1.3, 3.75])
SIZE = (5.2, 4.2)  # of the picture in the units of both axes, so that squares are square


def draw():
    """Draw points, line and squares."""
    figure, (axes,) = canvas(HALF_INCH)
    ends = np.array([0, SIZE[0]])
    axes.plot(ends, SLOPE * ends + OFFSET, color=COLORS[0], linewidth=3)
    for x, y in zip(X, Y):
        error = SLOPE * x + OFFSET - y
        # On the side where it does not cross the line: left below it, right above it.
        corner = (x - error, y) if error > 0 else (x, y + error)
        square = Rectangle(corner, abs(error), abs(error), facecolor=COLORS[1], alpha=0.22)
        axes.add_patch(square)
        axes.plot([x, x], [y, y + error], color=COLORS[1], linewidth=3, linestyle="--")
    axes.plot(X, Y, "o", color="black", markersize=10)
    axes.text(3.15, 1.7, "error", color=COLORS[1], fontsize=18)
    axes.text(5.15, 2.25, "ŷ = m x + n", color=COLORS[0], fontsize=18, ha="right")
    axes.set(xlim=(0, SIZE[0]), ylim=(0, SIZE[1]), aspect="equal", xlabel="x", ylabel="y")
    axes.set_xticks([])
    axes.set_yticks([])
    return figure


def words():
    """Return what the squares are, as text."""
    return (
        f"{len(X)} points and a rising line. A dashed vertical line joins every point to the line: the error. "
        "It is one side of a shaded square; points far from the line have large squares."
    )
