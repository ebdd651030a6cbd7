"""Gradients are sent while the backward pass still computes the next ones."""

from __future__ import annotations

from coursekit.pictures import GREY
from workshop.slides.drawing import COMMUNICATE, COMPUTE, canvas

DATA = ()
CAPTION = "The backward pass goes from the last layer to the first; lengths are chosen, not measured."
LAYERS = ("layer 4", "layer 3", "layer 2", "layer 1")
FORWARD, BACKWARD, SEND = 3.0, 1.5, 1.2


def plan(overlap):
    """Return when each sending starts, and when the last one ends."""
    ready = [FORWARD + BACKWARD * (number + 1) for number in range(len(LAYERS))]
    starts, free = [], 0.0
    for time in ready:
        start = max(free, time if overlap else ready[-1])
        starts.append(start)
        free = start + SEND
    return starts, free


def moments():
    """Return the times of the frames: all times at which something ends, in order."""
    ends = [FORWARD + BACKWARD * number for number in range(len(LAYERS) + 1)]
    for overlap in (True, False):
        starts, _ = plan(overlap)
        ends += [start + SEND for start in starts]
    return sorted({round(end, 3) for end in ends})


def draw():
    """Draw both ways up to each of the moments; the last frame shows everything."""
    return [draw_until(now) for now in moments()]


def draw_until(now):
    """Draw what has happened by this time, computing above sending, and a line at this time."""
    figure, (axes,) = canvas()
    for row, (name, overlap) in enumerate((("send at\nthe end", False), ("send when\nready", True))):
        y = -2.3 * row
        computed = [("forward", 0.0, FORWARD)]
        computed += [(layer, FORWARD + BACKWARD * number, BACKWARD) for number, layer in enumerate(LAYERS)]
        for what, left, length in computed:
            bar(axes, y, left, length, now, color=COMPUTE, linewidth=2)
            if left + length <= now:
                axes.text(left + length / 2, y, what, ha="center", va="center", color="white", fontsize=16)
        starts, end = plan(overlap)
        for start in starts:
            bar(axes, y - 0.78, start, SEND, now, color=COMMUNICATE, hatch="//")
        if end <= now:
            axes.text(end + 0.2, y - 0.78, f"{end:.1f}", va="center")
        axes.text(-0.25, y - 0.39, name, ha="right", va="center")
    axes.axvline(now, color=GREY, zorder=0)
    axes.set(xlabel="time (units of the model)", xlim=(-2.6, 15.2), ylim=(-3.6, 0.6))
    axes.set_xticks(range(0, 15, 2))
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    return figure


def bar(axes, y, left, length, now, **options):
    """Draw a bar up to the current time."""
    if left < now:
        axes.barh(y, min(length, now - left), left=left, height=0.7, edgecolor="white", **options)


def words():
    """Return, for each frame, its time and when both ways end, as text."""
    described = (
        f"A forward pass takes {FORWARD:g} and each of four backward layers {BACKWARD:g}; each layer's gradients take "
        f"{SEND:g} to send. If they are sent at the end, the step takes {plan(overlap=False)[1]:.1f}; if sent when "
        f"ready, {plan(overlap=True)[1]:.1f}: only the last sending is not hidden."
    )
    return [f"Up to time {now:g}. {described}" for now in moments()]
