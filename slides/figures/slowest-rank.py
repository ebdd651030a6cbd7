"""The slowest rank decides: one step of four ranks, and the expected slowest of many."""

import math

import numpy as np

from coursekit.pictures import COLORS
from workshop.slides.drawing import WAIT, canvas

DATA = ()
CAPTION = "A model. Left: one step, grey is waiting. Right: the mean of the slowest of N, with spreads of 5 % and 10 %."

STEP = (1.0, 0.93, 1.22, 0.97)
RANKS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def slowest(num_ranks, spread):
    """Return the mean of the largest of N normal numbers with mean 1 and this spread."""
    z = np.linspace(-6, 8, 4001)
    below = np.array([0.5 * (1 + math.erf(value / math.sqrt(2))) for value in z])
    # E[max] is the integral of z dF, where F is the N-th power of the normal distribution.
    return 1 + spread * float(np.sum(0.5 * (z[1:] + z[:-1]) * np.diff(below**num_ranks)))


def draw():
    """Draw both."""
    figure, (left, right) = canvas(num_panels=2)
    for rank, seconds in enumerate(STEP):
        left.barh(-rank, seconds, color=COLORS[rank], height=0.7)
        left.barh(-rank, max(STEP) - seconds, left=seconds, color=WAIT, height=0.7, hatch="//", ec="white")
    left.axvline(max(STEP), color="black", lw=2)
    left.set_yticks([-rank for rank in range(4)], [f"rank {rank}" for rank in range(4)])
    left.set(xlabel="time, in mean steps", xlim=(0, 1.4), title="one step")
    left.grid(visible=False, axis="y")
    for number, (spread, line) in enumerate(((0.05, "-"), (0.1, "--"))):
        values = [slowest(ranks, spread) for ranks in RANKS]
        right.plot(RANKS, values, line, color=COLORS[number], label=f"spread {spread:.0%}")
    right.set(xscale="log", xlabel="ranks", ylabel="mean of the slowest", ylim=(0.98, 1.33), title="many ranks")
    right.set_xticks([1, 4, 16, 64, 256], ["1", "4", "16", "64", "256"])
    right.minorticks_off()
    right.legend(loc="upper left")
    return figure


def words():
    """Give the numbers of both."""
    return (
        f"Four ranks need {', '.join(str(seconds) for seconds in STEP)} mean steps, so that all take {max(STEP)}. "
        f"With a spread of 5 % the slowest of 256 takes {slowest(256, 0.05):.2f} on average, with 10 % "
        f"{slowest(256, 0.1):.2f}."
    )
