"""Ranks without a server: each holds the weights; they average their gradients, and each updates its own weights."""

import numpy as np

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, arrow, box, diagram

DATA = ()
CAPTION = "Four ranks, no server: all exchange gradients."
CENTER, RADIUS = np.array([2.85, 2.52]), np.array([1.9, 1.55])


def draw():
    """Draw the ranks in a circle around their allreduce."""
    figure, axes = diagram(HALF_INCH)
    places = [CENTER + RADIUS * signs for signs in ((-1, 1), (1, 1), (1, -1), (-1, -1))]
    for rank, place in enumerate(places):
        inner = CENTER + 0.36 * (place - CENTER)
        outer = CENTER + 0.7 * (place - CENTER)
        arrow(axes, tuple(inner), tuple(outer), COLORS[rank], arrowstyle="<|-|>")
        box(axes, tuple(place), f"rank {rank}:\nweights", (1.8, 0.95), COLORS[rank])
    box(axes, tuple(CENTER), "allreduce:\nmean gradient", (2.2, 0.95), COLORS[7], filled=False)
    axes.text(CENTER[0], 0.18, "every rank updates its own weights", fontsize=16, ha="center", va="center")
    return figure


def words():
    """Return which rank holds what, as text."""
    return (
        "Four ranks, each with the weights, around an allreduce that gives all of them the mean gradient. "
        "There is no server; every rank sends and receives, and updates its own weights."
    )
