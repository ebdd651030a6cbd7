"""A dynamic loss scale: it doubles after many steps without overflow; at an overflow it halves, and a step is lost."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ()
CAPTION = "The rule of tf.keras, for gradients that overflow above a limit, which changes once."
GROWTH_STEPS, NUM_STEPS, FIRST = 2000, 24000, 15
LIMITS = ((0, 18), (14000, 15))  # from this step on, scales above 2 to this power overflow


def simulate():
    """Return the exponent of the scale at each step, and the steps that are skipped."""
    scale, good = FIRST, 0
    scales, skipped = [], []
    for step in range(NUM_STEPS):
        limit = [power for start, power in LIMITS if step >= start][-1]
        scales.append(scale)
        if scale > limit:
            skipped.append(step)
            scale, good = scale - 1, 0
        else:
            good += 1
            if good == GROWTH_STEPS:
                scale, good = scale + 1, 0
    return scales, skipped


def draw():
    """Draw the scale, the limit and the skipped steps."""
    figure, (axes,) = canvas((7.0, 4.6))
    scales, skipped = simulate()
    edges = [start for start, _ in LIMITS] + [NUM_STEPS]
    for (start, limit), end in zip(LIMITS, edges[1:]):
        axes.fill_between([start, end], limit + 0.5, 20.5, color="0.88", hatch="//", edgecolor="white")
    axes.text(5000, 19.75, "gradients overflow", color="0.25")
    axes.step(range(NUM_STEPS), scales, color=COLORS[0], where="post")
    axes.plot(skipped, [scales[step] for step in skipped], "X", color=COLORS[1], markersize=11)
    axes.text(7300, 19, "step skipped", color=COLORS[1], ha="right", va="center")
    axes.set(xlabel="step", ylabel="loss scale", ylim=(13.4, 20.5), xlim=(0, NUM_STEPS))
    axes.set_yticks(range(14, 21), [f"$2^{{{power}}}$" for power in range(14, 21)])
    return figure


def words():
    """Return how the scale moves, as text."""
    scales, skipped = simulate()
    return (
        f"The scale starts at 2 to the {FIRST}, doubles every {GROWTH_STEPS} good steps up to 2 to the {max(scales)}, "
        f"where gradients overflow; then it halves. Of {NUM_STEPS} steps, {len(skipped)} are skipped."
    )
