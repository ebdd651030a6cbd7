"""The argument about sharp minima: if the test loss is slightly shifted, a sharp minimum costs more."""

import numpy as np

from coursekit.pictures import COLORS, GREY
from workshop.slides.drawing import HALF_INCH, arrow, canvas

DATA = ()
CAPTION = "The argument in one dimension."
FLAT, SHARP = (1.3, 0.55), (4.4, 7.0)  # place and curvature of the minima
SHIFT, TOP = 0.33, 2.0


def loss(place):
    """Return a loss with two dips in a plateau."""
    dips = [np.exp(-curvature * (place - center) ** 2 / TOP) for center, curvature in (FLAT, SHARP)]
    return TOP * (1 - np.sum(dips, axis=0)) + 0.25


def draw():
    """Draw training and test loss, and the gaps at both minima."""
    figure, (axes,) = canvas(HALF_INCH)
    places = np.linspace(-0.9, 6, 500)
    axes.plot(places, loss(places), color=COLORS[0], linewidth=4)
    axes.plot(places, loss(places - SHIFT), color=COLORS[1], linestyle="--", linewidth=3)
    for center, _ in (FLAT, SHARP):
        bottom, top = loss(np.array(center)), loss(np.array(center - SHIFT))
        axes.plot([center, center], [bottom, top], color="black", linewidth=5, zorder=4)
        axes.plot(center, bottom, "o", color=COLORS[0], markersize=11, zorder=5)
    axes.text(FLAT[0], -0.12, "flat", ha="center", weight="bold")
    axes.text(SHARP[0], -0.12, "sharp", ha="center", weight="bold")
    axes.text(2.75, 2.5, "training", color=COLORS[0], ha="right")
    axes.text(2.95, 2.5, "test", color=COLORS[1], ha="left")
    arrow(axes, (3.62, 0.62), (4.33, 0.62), GREY)
    axes.text(3.55, 0.62, "gap", ha="right", va="center")
    axes.set(xlim=(-0.9, 6), ylim=(-0.3, 2.85), xlabel="a parameter", ylabel="loss", xticks=[], yticks=[])
    return figure


def words():
    """Return the gaps as text."""
    gaps = [float(loss(np.array(center - SHIFT)) - loss(np.array(center))) for center, _ in (FLAT, SHARP)]
    return (
        "A training loss with two minima of the same depth, one flat and one sharp, and a test loss that is the same "
        f"curve, shifted slightly to the right. At the flat minimum it is higher by {gaps[0]:.2f}, "
        f"at the sharp one by {gaps[1]:.2f}."
    )
