"""One update of gradient descent in four steps: batch, forward pass, backward pass, update; with their numbers."""

import numpy as np

from coursekit.pictures import COLORS
from workshop.slides.drawing import FULL_INCH, arrow, box, draw_landscape

DATA = ("results/sgd-trajectories",)
CAPTION = "One update on a batch of eight samples, drawn from the data of lab 01; learning rate 0.5."
NUM_IN_BATCH, RATE = 8, 0.5
NAMES = ("batch", "forward pass:\nloss", "backward pass:\ngradient", "update")


def numbers(data):
    """Return the batch, the start, the loss, the gradient, and the new point."""
    x, y = np.array(data["x"][:NUM_IN_BATCH]), np.array(data["y"][:NUM_IN_BATCH])
    start = np.array(data["start"])
    errors = start[0] * x + start[1] - y
    gradient = np.array([np.mean(2 * errors * x), np.mean(2 * errors)])
    return x, y, start, np.mean(errors**2), gradient, start - RATE * gradient


def draw(data):
    """Draw the four steps."""
    return [draw_step(data, step) for step in range(4)]


def draw_step(data, step):
    """Draw what is known after a step: the chain above, data and landscape below."""
    from matplotlib.figure import Figure  # with its own layout

    x, y, start, loss, gradient, end = numbers(data)
    figure = Figure(figsize=FULL_INCH)
    chain, left, right = (figure.add_axes(place) for place in CHAIN_AND_PANELS)
    chain.set(xlim=(0, FULL_INCH[0]), ylim=(0, 0.95))
    chain.set_axis_off()
    for number, name in enumerate(NAMES):
        color = COLORS[0] if number == step else "0.6"
        box(chain, (1.3 + 3 * number, 0.47), name, (2.2, 0.84), color, filled=number == step, fontsize=17)
        if number:
            arrow(chain, (3 * number - 0.57, 0.47), (3 * number + 0.17, 0.47))
    left.plot(data["x"], data["y"], "o", color="0.86", markersize=3, markeredgewidth=0)
    left.plot(x, y, "o", color="black", markersize=9, zorder=4)
    ends = np.array([-0.5, 0.5])
    left.plot(ends, start[0] * ends + start[1], color=COLORS[0], linestyle="-" if step < 3 else "--")
    draw_landscape(right, data["moments"], (-0.4, 2.6), (-0.7, 1.3))
    right.plot(*start, "o", color=COLORS[0], markersize=13, zorder=6)
    if step == 1:
        left.vlines(x, start[0] * x + start[1], y, color=COLORS[1], linewidth=3, linestyle="--")
        say(left, f"L = {loss:.2f}", COLORS[1])
    if step == 2:
        arrow(right, tuple(start), tuple(start + 0.25 * gradient), COLORS[1], zorder=7)
        say(right, f"gradient ({gradient[0]:.2f}, {gradient[1]:.2f}): uphill", COLORS[1])
    if step == 3:
        left.plot(ends, end[0] * ends + end[1], color=COLORS[2], linewidth=4)
        arrow(right, tuple(start), tuple(end), COLORS[2], zorder=7)
        right.plot(*end, "s", color=COLORS[2], markersize=12, zorder=6)
        say(right, f"new ({end[0]:.2f}, {end[1]:.2f})", COLORS[2])
    left.set(xlabel="x", ylabel="y", xlim=(-0.55, 0.55), ylim=(-1.6, 1.9), xticks=[-0.5, 0, 0.5], yticks=[-1, 0, 1])
    right.set(xticks=[0, 1, 2], yticks=[0, 1])
    return figure


CHAIN_AND_PANELS = ((0, 0.79, 1, 0.2), (0.07, 0.19, 0.4, 0.56), (0.56, 0.19, 0.42, 0.56))


def say(axes, text, color):
    """Write a number into the lower right corner of a panel."""
    axes.text(
        0.98, 0.05, text, transform=axes.transAxes, ha="right", va="bottom", color=color, weight="bold", fontsize=19,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 2}, zorder=9,
    )  # fmt: skip


def words(data):
    """Return each step with its numbers as text."""
    _, _, start, loss, gradient, end = numbers(data)
    return [
        f"Step 1 of 4, batch: {NUM_IN_BATCH} points are picked; the line has slope {start[0]:g}, offset {start[1]:g}.",
        f"Step 2 of 4, forward pass: the loss is the mean square of the points' distances from the line, {loss:.2f}.",
        (
            f"Step 3 of 4, backward pass: the gradient, {gradient[0]:.2f} along the slope and {gradient[1]:.2f} along "
            "the offset, is an arrow that points uphill from the line's place in the landscape."
        ),
        (
            f"Step 4 of 4, update: the line moves against the gradient, to slope {end[0]:.2f} and offset {end[1]:.2f}; "
            "in the data it now runs through the cloud."
        ),
    ]
