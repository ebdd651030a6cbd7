"""What a wrong rate looks like: four losses on many ranks, each next to the loss of one rank."""

import numpy as np

from coursekit.pictures import COLORS
from workshop.slides.drawing import FULL_INCH, canvas

DATA = ()
CAPTION = "Sketches of the loss. Blue: many ranks; grey and dashed: one rank."
CASES = (
    ("grows from\nthe start", "over the limit:\nhalve the rate,\nwarm up longer"),
    ("good on one rank,\nnoisy on eight", "scaled twice?\na sum and\na scaled rate"),
    ("slow\nbut steady", "not scaled? or a\nschedule in steps,\nnot in epochs"),
    ("worse only\nat the end", "batch too large:\nmake it smaller\non each rank"),
)


def losses():
    """Return the epochs, the loss of one rank, and for each case the loss of many ranks."""
    epochs = np.linspace(0, 1, 120)
    rng = np.random.default_rng(4)
    one = 0.15 + 0.85 * np.exp(-5 * epochs)
    noisy = one + 0.16 * np.convolve(rng.normal(size=120), np.ones(3) / 3, "same") + 0.15
    return epochs, one, (0.8 + 0.9 * epochs**2, noisy, 0.15 + 0.85 * np.exp(-1.3 * epochs), one + 0.12 * epochs**0.5)


def draw():
    """Draw one panel for each case."""
    figure, panels = canvas(FULL_INCH, len(CASES))
    epochs, one, many = losses()
    for number, (panel, (sign, cure)) in enumerate(zip(panels, CASES)):
        panel.plot(epochs, one, color="0.6", linestyle="--")
        panel.plot(epochs, many[number], color=COLORS[0], linewidth=3.5)
        panel.set(xlim=(0, 1), ylim=(0, 1.5), xticks=[], yticks=[])
        panel.set_title(sign, fontweight="bold", fontsize=20)
        panel.set_xlabel(cure, fontsize=17, labelpad=14)
    panels[0].set_ylabel("loss")
    return figure


def words():
    """Return the signs and what to look at, as text."""
    parts = [f"{sign.replace(chr(10), ' ')}: {cure.replace(chr(10), ' ')}" for sign, cure in CASES]
    return f"Four losses of many ranks, each next to the loss of one rank. {'; '.join(parts)}."
