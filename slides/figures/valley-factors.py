"""One direction of a quadratic loss: steps that settle, that jump for ever, and that run away."""

import numpy as np
from matplotlib.figure import Figure

from coursekit.pictures import COLORS, LINE_STYLES, MARKERS
from workshop.slides.drawing import HALF_INCH

DATA = ()
CAPTION = "Gradient descent along one direction of a quadratic loss."
FACTORS = (0.5, -0.6, -1.0, -1.25)  # 1 - rate * curvature
STARTS, NUM_STEPS = (2.2, 2.2, 2.0, 0.9), 4


def draw():
    """Draw a valley for each factor, side by side, with the first steps in it."""
    figure = Figure(figsize=HALF_INCH, layout="constrained")
    panels = figure.subplots(2, 2).ravel()
    x = np.linspace(-2.6, 2.6, 100)
    for number, (panel, factor) in enumerate(zip(panels, FACTORS)):
        panel.plot(x, x * x, color="0.8", linewidth=2)
        points = STARTS[number] * factor ** np.arange(NUM_STEPS + 1)
        look = {"color": COLORS[number], "linestyle": LINE_STYLES[number], "marker": MARKERS[number]}
        panel.plot(points, points**2, linewidth=2, **look)
        panel.set_title(f"factor {factor:g}".replace("-", "\N{MINUS SIGN}"), color=COLORS[number], fontsize=18)
        panel.set(xlim=(-2.6, 2.6), ylim=(-0.4, 6.4), xticks=[], yticks=[])
        panel.spines[["left", "bottom"]].set_visible(False)
        panel.grid(visible=False)
    return figure


def words():
    """Return where each factor leads, as text."""
    parts = [
        f"factor {factor:g}: " + ", ".join(f"{start * factor**step:.2f}" for step in range(NUM_STEPS + 1))
        for start, factor in zip(STARTS, FACTORS)
    ]
    return f"Distance to the minimum step by step. {'; '.join(parts)}."
