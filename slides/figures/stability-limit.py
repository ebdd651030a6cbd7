"""Lab 02's line on two ranks: paths below, at and above the largest stable rate, and the remaining loss."""

import numpy as np

from coursekit.pictures import COLORS, LINE_STYLES, MARKERS
from workshop.slides.drawing import FULL_INCH, canvas

DATA = ("results/stability-limit",)
CAPTION = "Left: the first steps over lab 02's loss surface. Right: how far above its minimum the loss ends."

NUM_DRAWN = 16  # points of each path
HEIGHTS = (-0.5, -0.25, 0.6, 0.95)  # of the labels


def behaviour(factor):
    """Return in words what a step does to a distance that it multiplies by this factor.

    0.2: nearer to the minimum, on the same side; -0.6: across it, and nearer;
    -1: across it, equally far; -1.04: across it, and farther.
    """
    if abs(factor + 1) < 0.01:  # as near as 100 steps can tell
        return "jumps on"
    return "grows" if factor < -1 else "swings" if factor < 0 else "no swing"


def draw(data):
    """Draw the paths, and the loss at the end against the scaled rate."""
    figure, (left, right) = canvas(FULL_INCH, 2)
    mean = data["moments"]
    slopes, offsets = np.meshgrid(np.linspace(0.6, 2.3, 80), np.linspace(-1.15, 1.15, 80))
    surface = slopes**2 * mean["xx"] + offsets**2 + mean["yy"] + 2 * slopes * offsets * mean["x"]
    surface = surface - 2 * slopes * mean["xy"] - 2 * offsets * mean["y"]
    left.contour(slopes, offsets, surface, levels=np.geomspace(0.085, 1.6, 10), colors="0.8", linewidths=1)
    for number, one in enumerate(data["paths"]):
        path = np.array(one["path"][:NUM_DRAWN])
        look = {"color": COLORS[number], "linestyle": LINE_STYLES[number]}
        left.plot(path[:, 0], path[:, 1], marker=MARKERS[number], markersize=4, linewidth=1.8, **look)
        label = f"{one['rate']:g}: {behaviour(1 - one['rate'] * data['eigenvalues'][1])}"
        left.text(2.02, HEIGHTS[number], label, color=COLORS[number], va="center")
    left.plot(*data["best"], "x", color="red", markersize=13, markeredgewidth=3, zorder=5)
    left.set(
        xlabel="slope",
        ylabel="offset",
        xticks=[1, 1.5, 2],
        xlim=(0.6, 3.05),
        title="by scaled rate",
        ylim=(-1.15, 1.15),
    )
    left.grid(visible=False)
    rates = [one["rate"] for one in data["rates"]]
    excess = [one["excess"] for one in data["rates"]]
    right.plot(rates, excess, "o-", color=COLORS[0])
    right.axvline(data["limit"], color=COLORS[1], linestyle="--")
    right.axhline(data["first_excess"], color="0.5", linestyle=":")
    right.text(0.2, data["first_excess"] * 3, "at the start", fontsize=16, color="0.3")
    right.text(data["limit"] - 0.02, 1e11, r"$2/\lambda_{\max}$", ha="right", color=COLORS[1], fontsize=20)
    right.set(yscale="log", xlabel="scaled rate: rate of one rank · 2", xlim=(0.15, 1.13), ylim=(1e-16, 1e16))
    right.set_ylabel(f"loss above minimum, step {data['num_steps']}")
    right.set_yticks([1e-15, 1e-10, 1e-5, 1, 1e5, 1e10, 1e15])
    return figure


def words(data):
    """Return the limit, and the loss at the end by rate, as text."""
    parts = [f"{one['rate']:g}: {one['excess']:.2g}" for one in data["rates"]]
    return (
        f"Two ranks, lab 02's line. The largest stable rate is {data['limit']:.4g}. By scaled rate, how far the loss "
        f"is above its minimum after {data['num_steps']} steps, {data['first_excess']:.2g} at the start: "
        f"{'; '.join(parts)}. At 1 the path jumps back and forth over the valley for ever; above, the jumps grow."
    )
