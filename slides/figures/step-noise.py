"""Where steps end, on average and with what spread: k small steps, and one large-batch step with three rates."""

import numpy as np

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, canvas

DATA = ()
CAPTION = "Arrow: the mean; dots: 200 draws of gradients with mean g and one spread, averaged over batches; k = 4."
FACTOR, RATE, GRADIENT, SPREAD, NUM_DRAWS = 4, 1.0, 1.0, 0.42, 200
ROWS = (
    ("k small steps\nrate η", FACTOR * RATE, FACTOR**0.5 * RATE),
    ("1 large batch\nrate η", RATE, RATE / FACTOR**0.5),
    ("1 large batch\nrate √k η", FACTOR**0.5 * RATE, RATE),
    ("1 large batch\nrate k η", FACTOR * RATE, FACTOR**0.5 * RATE),
)
COLORS_OF_ROWS = (COLORS[0], COLORS[1], COLORS[3], COLORS[2])  # as in small-and-large-steps and scaled-rates
SAYS = (
    "what k ranks replace",
    "too short, little noise",
    "half the way, noise of one small step",
    "length and noise of k small steps",
)


def draw():
    """Draw a cloud of ends and the mean step for each way."""
    figure, (axes,) = canvas()
    rng = np.random.default_rng(3)
    for row, ((_, way, spread), says) in enumerate(zip(ROWS, SAYS)):
        y = len(ROWS) - row
        ends = way * GRADIENT + spread * SPREAD * rng.normal(size=NUM_DRAWS)
        color = COLORS_OF_ROWS[row]
        axes.plot(ends, y + rng.uniform(-0.26, 0.26, NUM_DRAWS), ".", color=color, alpha=0.45, markersize=7)
        arrow(axes, (0, y), (way * GRADIENT, y), color="black", linewidth=3, shrinkA=0, shrinkB=0)
        axes.text(6.95, y, says, fontsize=17, va="center")
    axes.axvline(FACTOR * RATE * GRADIENT, color="0.6", linestyle="--", linewidth=1.5)
    axes.set(xlim=(-0.3, 12.2), ylim=(0.5, 4.5), xticks=[0, 1, 2, 4], xticklabels=["0", "η g", "√k η g", "k η g"])
    axes.set_yticks(range(len(ROWS), 0, -1), [label for label, _, _ in ROWS])
    axes.grid(visible=False)
    axes.spines[["bottom", "left"]].set_visible(False)
    axes.tick_params(length=0)
    return figure


def words():
    """Return the mean and the spread of each way as text."""
    parts = [
        f"{label.replace(chr(10), ', ')}: mean {way:g}, spread {spread:g} times that of one small step"
        for label, way, spread in ROWS
    ]
    return f"How far the weights move, for k = {FACTOR}, in small steps. {'; '.join(parts)}."
