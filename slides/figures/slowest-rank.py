"""The slowest rank decides: the expected time of the slowest of many."""

import math

import numpy as np

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, canvas

DATA = ()
CAPTION = "The mean of the slowest of N ranks, with normal spreads of 5 % and 10 %."

RANKS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def slowest(num_ranks, spread):
    """Return the mean of the largest of N normal numbers with mean 1 and this spread."""
    z = np.linspace(-6, 8, 4001)
    below = np.array([0.5 * (1 + math.erf(value / math.sqrt(2))) for value in z])
    # E[max] is the integral of z dF, where F is the N-th power of the normal distribution.
    return 1 + spread * float(np.sum(0.5 * (z[1:] + z[:-1]) * np.diff(below**num_ranks)))


def draw():
    """Draw the mean of the slowest by number of ranks."""
    figure, (axes,) = canvas(HALF_INCH)
    for number, (spread, line) in enumerate(((0.05, "-"), (0.1, "--"))):
        values = [slowest(ranks, spread) for ranks in RANKS]
        axes.plot(RANKS, values, line, color=COLORS[number], label=f"spread {spread:.0%}")
    axes.set(xscale="log", xlabel="ranks", ylabel="slowest, in mean steps", ylim=(0.98, 1.33))
    axes.set_xticks([1, 4, 16, 64, 256], ["1", "4", "16", "64", "256"])
    axes.minorticks_off()
    axes.legend(loc="upper left")
    return figure


def words():
    """Return the numbers as text."""
    return (
        f"With a spread of 5 %, the slowest of 256 ranks takes {slowest(256, 0.05):.2f} mean steps on average; with "
        f"10 %, it takes {slowest(256, 0.1):.2f}."
    )
