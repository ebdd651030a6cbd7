"""Gradient descent on a parabola with three learning rates: it is slow, overshoots and settles, or diverges."""

import numpy as np

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ()
CAPTION = "Gradient descent in one direction of curvature λ, six updates from the same start."
START, NUM_STEPS = -1.0, 6
CASES = (
    (0.3, "η = 0.3 / λ", "slow"),
    (1.7, "η = 1.7 / λ", "overshoots"),
    (2.15, "η = 2.15 / λ", "diverges"),
)


def path_of(rate):
    """Return the places; each update multiplies the distance by 1 - rate, with the curvature as the unit."""
    return START * (1 - rate) ** np.arange(NUM_STEPS + 1)


def draw():
    """Draw a parabola and steps for each rate."""
    figure, panels = canvas((11.6, 4.2), num_panels=3)
    for number, (axes, (rate, name, what)) in enumerate(zip(panels, CASES)):
        path, places = path_of(rate), np.linspace(-2.5, 2.5, 200)
        axes.plot(places, places**2, color="0.7", linewidth=3)
        axes.plot(path, path**2, "o-", color=COLORS[number], linewidth=2, markersize=9)
        axes.plot(path[0], path[0] ** 2, "D", color="black", markersize=11, zorder=5)
        axes.set_title(f"{name}: {what}")
        axes.set(xlim=(-2.5, 2.5), ylim=(-0.3, 5.6), xlabel="parameter")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
    panels[0].text(-1.15, 1.35, "start", ha="right")
    return figure


def words():
    """Return where the three paths end, as text."""
    described = (
        f"{name}, {what}: the distance goes from 1 to {abs(path_of(rate)[-1]):.2g}." for rate, name, what in CASES
    )
    return "Three parabolas with six steps from the same start. " + " ".join(described)
