"""Load imbalance: in a synchronous step all wait for the slowest rank."""

from __future__ import annotations

from workshop.slides.drawing import COMMUNICATE, COMPUTE, HALF_INCH, WAIT, canvas

DATA = ()
CAPTION = "A model: three steps of four ranks, one of them slower than the others."
COMPUTE_S = (1.0, 1.05, 1.6, 0.95)
ALLREDUCE_S = 0.3
NUM_STEPS = 3


def draw():
    """Draw a lane for each rank: compute, wait, allreduce."""
    figure, (axes,) = canvas(HALF_INCH)
    slowest = max(COMPUTE_S)
    for step in range(NUM_STEPS):
        start = step * (slowest + ALLREDUCE_S)
        for rank, seconds in enumerate(COMPUTE_S):
            axes.barh(rank, seconds, 0.6, left=start, color=COMPUTE)
            axes.barh(rank, slowest - seconds, 0.6, left=start + seconds, color=WAIT)
            style = {"facecolor": COMMUNICATE, "edgecolor": "white", "hatch": "///", "linewidth": 0}
            axes.barh(rank, ALLREDUCE_S, 0.6, left=start + slowest, **style)
    axes.set_yticks(range(4), [f"rank {rank}" for rank in range(4)])
    axes.invert_yaxis()
    axes.set(xlabel="time", ylim=(3.5, -1.2))
    axes.set_xticks([])
    for x, label, color in ((0.0, "compute", COMPUTE), (2.0, "wait", "0.35"), (3.3, "allreduce", COMMUNICATE)):
        axes.text(x, -0.75, label, color=color, weight="bold")
    axes.text(0.4, 2.0, "slowest", color="white", ha="left", va="center", fontsize=16)
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)  # it would strike out the first word
    axes.tick_params(axis="y", length=0)
    return figure


def words():
    """Tell who waits for whom."""
    return (
        "Four ranks compute for "
        + ", ".join(f"{seconds:g}" for seconds in COMPUTE_S)
        + " units of time; all wait for rank 2, the slowest, before each allreduce, in every one of three steps."
    )
