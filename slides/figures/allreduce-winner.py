"""Which way to allreduce is fastest for each message size: the model for 16 ranks on a fast network."""

from __future__ import annotations

import numpy as np

from coursekit.pictures import COLORS, LINE_STYLES
from workshop.slides.allreduce import WAYS, count
from workshop.slides.drawing import FULL_INCH, canvas

DATA = ()
CAPTION = "A model: 16 ranks, latency 5 µs per step, bandwidth 10 GB/s."
NUM_RANKS = 16
ALPHA_S, BETA_S = 5e-6, 1e-10
SPREAD = {"star": 1, "tree": 1.35, "butterfly": 1, "ring": 0.75}  # keeps names at the ends of lines apart
COSTS = {way: count(schedule(NUM_RANKS)) for way, schedule in WAYS.items()}
HALVING = (
    2 * np.log2(NUM_RANKS),
    2 * (NUM_RANKS - 1) / NUM_RANKS,
)  # steps and path of halving and doubling (Thakur 2005)


def crossing():
    """Return the size in bytes at which butterfly and ring take the same time."""
    fast, broad = COSTS["butterfly"], COSTS["ring"]
    return (broad.steps - fast.steps) * ALPHA_S / (float(fast.path - broad.path) * BETA_S)


def draw():
    """Draw the time of each way, and mark where the ring becomes the fastest."""
    figure, (axes,) = canvas(FULL_INCH)
    num_bytes = np.logspace(3, 9, 200)
    for index, (way, cost) in enumerate(COSTS.items()):
        seconds = [cost.seconds(one, ALPHA_S, BETA_S) for one in num_bytes]
        axes.plot(num_bytes, seconds, color=COLORS[index], linestyle=LINE_STYLES[index], linewidth=3)
        axes.text(1.15e9, seconds[-1] * SPREAD[way], way, color=COLORS[index], va="center", weight="bold")
    steps, path = HALVING
    axes.plot(num_bytes, steps * ALPHA_S + path * num_bytes * BETA_S, color="0.25", linewidth=1.2)
    axes.annotate(
        "halving and doubling", xy=(5e5, 1.4e-4), xytext=(2e6, 8e-5), color="0.25", fontsize=16, va="center",
        arrowprops={"arrowstyle": "-", "color": "0.4"},
    )  # fmt: skip
    at = crossing()
    axes.axvline(at, color="0.4", linewidth=1.5)
    axes.axvspan(num_bytes[0], at, color=COLORS[2], alpha=0.08, linewidth=0)
    axes.axvspan(at, num_bytes[-1], color=COLORS[3], alpha=0.1, linewidth=0)
    axes.text(at / 1.25, 3e-1, "latency counts: butterfly beats ring", ha="right", va="center")
    axes.text(at * 1.25, 2.5e-5, "bandwidth counts: ring beats butterfly", ha="left", va="center")
    axes.set(xscale="log", yscale="log", xlim=(1e3, 1e9), ylim=(1e-5, 5), xlabel="size of the array", ylabel="seconds")
    axes.set_xticks([1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9], ["1 kB", "10 kB", "100 kB", "1 MB", "10 MB", "100 MB", "1 GB"])
    return figure


def words():
    """Return where the ring takes over, and the times at both ends, as text."""
    small, large = ({way: cost.seconds(size, ALPHA_S, BETA_S) for way, cost in COSTS.items()} for size in (1e3, 1e9))
    described = [f"{way} {1e6 * small[way]:.0f} µs and {large[way]:.2f} s" for way in COSTS]
    return (
        f"Times for 1 kB and 1 GB: {'; '.join(described)}. The ring beats the butterfly from "
        f"{crossing() / 1e6:.2f} MB on. A thin line shows halving and doubling, with {HALVING[0]:.0f} steps "
        "and as many bytes as the ring."
    )
