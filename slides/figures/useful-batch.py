"""How many steps training needs, by batch: at first, doubling the batch halves them; in the end, it saves none."""

import numpy as np

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, canvas

DATA = ()
CAPTION = "A model: steps to a given accuracy, each batch with the best rate for it."
FEWEST, NOISE = 1.0, 1024  # steps = fewest * (1 + noise / batch)


def draw():
    """Draw the curve and name its three parts."""
    figure, (axes,) = canvas(HALF_INCH)
    batches = np.geomspace(16, 65536, 200)
    axes.plot(batches, FEWEST * NOISE / batches, color="0.6", linestyle="--", linewidth=1.8)
    axes.plot(batches, FEWEST * (1 + NOISE / batches), color=COLORS[0], linewidth=4)
    axes.text(60, 38, "half the steps for\ntwice the batch", fontsize=16)
    axes.text(1200, 3.4, "less is gained", fontsize=16)
    axes.text(4200, 1.5, "nothing is gained", fontsize=16)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="batch size, logarithmic",
        ylabel="steps needed, logarithmic",
        ylim=(0.5, 110),
        xlim=(16, 65536),
    )
    axes.set_xticks([], [])
    axes.set_yticks([], [])
    axes.minorticks_off()
    return figure


def words():
    """Return the shape as text."""
    return (
        "Steps needed by batch, both logarithmic. Small batches: twice the batch, half the steps; then the "
        "gain shrinks; with very large batches the number of steps no longer falls."
    )
