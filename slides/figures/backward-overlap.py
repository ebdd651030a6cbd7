"""Gradients are sent while the backward pass still computes the next ones."""

from __future__ import annotations

from coursekit.lecture.slides.drawing import COMMUNICATE, COMPUTE, canvas

DATA = ()
CAPTION = "The backward pass goes from the last layer to the first; lengths are chosen, not measured."
LAYERS = ("layer 4", "layer 3", "layer 2", "layer 1")
FORWARD, BACKWARD, SEND = 3.0, 1.5, 1.2


def plan(overlap):
    """Return starts of the sendings, and when all is over."""
    ready = [FORWARD + BACKWARD * (number + 1) for number in range(len(LAYERS))]
    starts, free = [], 0.0
    for time in ready:
        start = max(free, time if overlap else ready[-1])
        starts.append(start)
        free = start + SEND
    return starts, free


def draw():
    """Draw both ways, computing above sending."""
    figure, (axes,) = canvas()
    for row, (name, overlap) in enumerate((("send at\nthe end", False), ("send when\nready", True))):
        y = -2.3 * row
        axes.barh(y, FORWARD, height=0.7, color=COMPUTE, edgecolor="white")
        axes.text(FORWARD / 2, y, "forward", ha="center", va="center", color="white")
        for number, layer in enumerate(LAYERS):
            left = FORWARD + BACKWARD * number
            axes.barh(y, BACKWARD, left=left, height=0.7, color=COMPUTE, edgecolor="white", linewidth=2)
            axes.text(left + BACKWARD / 2, y, layer, ha="center", va="center", color="white", fontsize=16)
        starts, end = plan(overlap)
        for start in starts:
            axes.barh(y - 0.78, SEND, left=start, height=0.7, color=COMMUNICATE, hatch="//", edgecolor="white")
        axes.text(end + 0.2, y - 0.78, f"{end:.1f}", va="center")
        axes.text(-0.25, y - 0.39, name, ha="right", va="center")
    axes.set(xlabel="time (units of the model)", xlim=(-2.6, 15.2), ylim=(-3.6, 0.6))
    axes.set_xticks(range(0, 15, 2))
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    return figure


def words():
    """Say when both are over."""
    return (
        f"A forward pass of {FORWARD:g} and four backward layers of {BACKWARD:g} each; each layer's gradients take "
        f"{SEND:g} to send. Sent at the end, the step takes {plan(overlap=False)[1]:.1f}; sent as soon as they are "
        f"ready, {plan(overlap=True)[1]:.1f}: only the last sending is not hidden."
    )
