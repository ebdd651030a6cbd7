"""Three lines through the data, and the same three as points in the landscape of the loss."""

import numpy as np

from coursekit.pictures import COLORS, LINE_STYLES, MARKERS
from workshop.slides.drawing import canvas, draw_landscape, loss_at

DATA = ("results/sgd-trajectories",)
CAPTION = "Left: three lines through the data. Right: the same three as points, over lines of equal loss."
LINES = {"A": (0.5, 0.8), "B": (-0.7, -0.75), "C": (1.961, 0.0)}


def draw(data):
    """Draw both panels."""
    figure, (left, right) = canvas(num_panels=2)
    left.plot(data["x"], data["y"], "o", color="0.75", markersize=3, markeredgewidth=0)
    draw_landscape(right, data["moments"], (-1.4, 3.4), (-1.25, 1.35))
    ends = np.array([-0.5, 0.5])
    for number, (name, (slope, offset)) in enumerate(LINES.items()):
        color = COLORS[number]
        left.plot(ends, slope * ends + offset, color=color, linestyle=LINE_STYLES[number], linewidth=4)
        left.text(-0.53, -slope * 0.5 + offset, name, color=color, fontsize=22, va="center", ha="right", weight="bold")
        right.plot(slope, offset, MARKERS[number], color=color, markersize=14, zorder=6)
        loss = loss_at(data["moments"], slope, offset)
        right.text(slope + 0.16, offset + 0.12, f"{name}: {loss:.2f}", color=color, fontsize=20, weight="bold")
    left.set(xlabel="x", ylabel="y", xlim=(-0.62, 0.55), ylim=(-1.6, 1.6))
    left.set_xticks([-0.5, 0, 0.5])
    left.set_yticks([-1, 0, 1])
    right.set_xticks([-1, 0, 1, 2, 3])
    right.set_yticks([-1, 0, 1])
    return figure


def words(data):
    """Return the lines and their losses as text."""
    described = (
        f"{name}, slope {slope:g} and offset {offset:g}, loss {loss_at(data['moments'], slope, offset):.2f}"
        for name, (slope, offset) in LINES.items()
    )
    return (
        f"Three lines and their points in the landscape: {'; '.join(described)}. Lines of equal loss are long "
        "ellipses, steep along the offset and flat along the slope; C lies at their centre."
    )
