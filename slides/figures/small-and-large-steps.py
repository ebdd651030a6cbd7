"""Four small steps and one large one, on a loss whose gradients change little on the way, and then much."""

import numpy as np

from coursekit.pictures import COLORS, GREY
from workshop.slides.drawing import HALF_INCH, arrow, canvas

DATA = ()
CAPTION = "Gradient descent with noise from four batches, computed on a quadratic loss."
CURVATURE = np.array([0.5, 2.0])
START = np.array([2.6, 1.25])
NUM_SMALL, RATE, BOLD_RATE = 4, 0.08, 0.2
NOISE = np.random.default_rng(5).normal(0, 1.3, (NUM_SMALL, 2))
NOISE -= NOISE.mean(axis=0)
LABELS = (f"{NUM_SMALL} small steps, η", "one step, η", f"one step, {NUM_SMALL}η")
PLACES = (((-0.1, 0.1), "right"), ((0.1, -0.05), "left"), ((0.1, -0.12), "left"))  # of the labels, from the ends


def paths(rate):
    """Return the path of small steps, and the ends of a large step with the same rate and with a scaled one."""
    small = [START]
    for noise in NOISE:
        small.append(small[-1] - rate * (CURVATURE * small[-1] + noise))
    gradient = CURVATURE * START + NOISE.mean(axis=0)
    return np.array(small), START - rate * gradient, START - NUM_SMALL * rate * gradient


def draw():
    """Draw small steps, then a large one, then a scaled one, then all three with a bold rate."""
    return [_draw(RATE, 1), _draw(RATE, 2), _draw(RATE, 3), _draw(BOLD_RATE, 3)]


def _draw(rate, num_shown):
    figure, (axes,) = canvas(HALF_INCH)
    x, y = np.meshgrid(np.linspace(-0.3, 4.0, 80), np.linspace(-1.1, 1.6, 80))
    loss = (CURVATURE[0] * x * x + CURVATURE[1] * y * y) / 2
    axes.contour(x, y, loss, levels=np.geomspace(0.05, loss.max(), 9), colors="0.8", linewidths=1)
    small, same, scaled = paths(rate)
    thin = {"shrinkA": 0, "shrinkB": 0, "mutation_scale": 14, "zorder": 5}
    if num_shown > 2:
        arrow(axes, START, scaled, COLORS[2], linewidth=4, linestyle="-", **{**thin, "mutation_scale": 26})
    for begin, end in zip(small, small[1:]):
        arrow(axes, begin, end, COLORS[0], **thin)
    if num_shown > 1:
        arrow(axes, START, same, COLORS[1], linewidth=4.5, **{**thin, "mutation_scale": 24})
    axes.plot(*START, "o", color="black", zorder=6)
    axes.plot(0, 0, "x", color="red", markersize=12, markeredgewidth=3)
    for number, (color, end, (shift, align)) in enumerate(zip(COLORS, (small[-1], same, scaled), PLACES)):
        if number < num_shown:
            look = {"color": color, "fontsize": 18, "fontweight": "bold", "ha": align, "va": "center"}
            axes.text(*(end + shift), LABELS[number], **look).set_in_layout(False)
    axes.annotate("start", START, (22, 6), textcoords="offset points", fontsize=16, ha="center")
    axes.text(0.12, -0.05, "minimum", fontsize=16, color=GREY, va="top") if rate == RATE else None
    axes.set(xlim=(-0.3, 4.0), ylim=(-1.1, 1.6), xticks=[], yticks=[], xlabel="weight 1", ylabel="weight 2")
    axes.grid(visible=False)
    return figure


def words():
    """Return where each way ends, as text."""
    texts = []
    for rate, num_shown in ((RATE, 1), (RATE, 2), (RATE, 3), (BOLD_RATE, 3)):
        small, same, scaled = paths(rate)
        ends = [f"({end[0]:.2f}, {end[1]:.2f})" for end in (small[-1], same, scaled)][:num_shown]
        listed = "; ".join(f"{label}: {end}" for label, end in zip(LABELS, ends))
        texts.append(f"From (2.60, 1.25) towards the minimum at (0, 0). Ends: {listed}.")
    return texts
