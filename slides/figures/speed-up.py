"""Speed-up and efficiency, two ways to look at the same gap."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ()
CAPTION = "Made-up numbers, drawn twice: left as speed-up, right as efficiency."

RANKS = (1, 2, 4, 8, 16, 32)
SHARE = 0.012  # of a step on one rank that each doubling adds


def speed_up(num_ranks):
    """Return how many times faster than one rank this many ranks are."""
    return num_ranks / (1 + SHARE * (num_ranks - 1))


def draw():
    """Draw both."""
    figure, (left, right) = canvas(num_panels=2)
    values = [speed_up(number) for number in RANKS]
    left.plot(RANKS, RANKS, "--", color="0.4", label="ideal: S = N")
    left.plot(RANKS, values, "o-", color=COLORS[0], label="an example")
    left.annotate("", (32, values[-1]), (32, 32), arrowprops={"arrowstyle": "<|-|>", "color": COLORS[1], "lw": 2.5})
    left.text(33, 27.6, "lost", ha="left", va="center", color=COLORS[1])
    left.set(xlabel="ranks N", ylabel="speed-up S", xlim=(0, 39), ylim=(0, 34), title="S = speed of N ranks / of one")
    left.legend(loc="upper left")
    shares = [value / number for value, number in zip(values, RANKS)]
    right.axhline(1, color="0.4", ls="--")
    right.plot(RANKS, shares, "s-", color=COLORS[0])
    right.annotate("", (32, shares[-1]), (32, 1), arrowprops={"arrowstyle": "<|-|>", "color": COLORS[1], "lw": 2.5})
    right.text(33, (1 + shares[-1]) / 2, "lost", ha="left", va="center", color=COLORS[1])
    right.set(xlabel="ranks N", ylabel="efficiency E", xlim=(0, 39), ylim=(0, 1.12), title="E = S / N")
    right.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    return figure


def words():
    """Return the end of both curves as text."""
    last = speed_up(RANKS[-1])
    return (
        f"With 32 ranks, the made-up speed-up is {last:.1f}, and the ideal is 32; "
        f"the efficiency of {last / 32:.0%} on the right says the same."
    )
