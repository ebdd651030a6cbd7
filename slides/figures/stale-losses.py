"""The loss step by step with gradients of different age, and the largest stable rate by age."""

import numpy as np

from coursekit.pictures import COLORS, LINE_STYLES, MARKERS
from workshop.slides.drawing import canvas

DATA = ("results/staleness",)
CAPTION = "Lab 01's line, all samples; each gradient was computed some steps before it was used."
HIGHEST = 30
LABELS = ((120, 0.1), (120, 0.24), (104, 50), (42, 50))  # places of the runs' names: step, loss


def draw(data):
    """Draw losses on the left, limits on the right."""
    figure, (left, right) = canvas(num_panels=2)
    for number, run in enumerate(data["runs"]):
        losses = np.array(run["losses"])
        over = np.flatnonzero(losses > HIGHEST)
        shown = losses[: over[0] + 1] if len(over) else losses
        name = f"{run['delay']} steps old" if run["delay"] else "fresh"
        left.plot(shown, color=COLORS[number], linestyle=LINE_STYLES[number], linewidth=3)
        left.text(*LABELS[number], name, color=COLORS[number], ha="right", va="bottom", fontsize=17)
    left.axhline(data["floor"], color="0.4", linewidth=1.5, linestyle=(0, (2, 3)))
    left.set(yscale="log", ylim=(0.06, 200), xlim=(0, data["num_steps"]), xlabel="step", ylabel="loss")
    left.set_yticks([0.1, 1, 10], ["0.1", "1", "10"])
    left.set_title(f"learning rate {data['rate']:g}")
    delays, found, formula = zip(*((one["delay"], one["found"], one["formula"]) for one in data["limits"]))
    right.plot(delays, formula, color="0.4", linewidth=2)
    right.text(8.6, 0.105, "closed form", color="0.3", fontsize=17)
    right.plot(delays, found, MARKERS[1], color=COLORS[0], markersize=10)
    right.text(1.5, 0.53, "found by trial", color=COLORS[0], va="center", fontsize=17)
    right.axhline(data["rate"], color=COLORS[1], linestyle="--")
    right.text(16, data["rate"] * 1.1, f"rate {data['rate']:g}", color=COLORS[1], ha="right")
    right.set(yscale="log", ylim=(0.03, 1.4), xlim=(-0.5, 16.5), xlabel="age of the gradients, steps")
    right.set_title("largest stable learning rate")
    right.set_yticks([0.05, 0.1, 0.2, 0.5, 1], ["0.05", "0.1", "0.2", "0.5", "1"])
    right.set_yticks([], minor=True)
    right.set_xticks([0, 4, 8, 12, 16])
    return figure


def words(data):
    """Return the losses and the limits as text."""
    ends = (f"{run['delay']}: {run['losses'][-1]:.3g}" for run in data["runs"])
    limits = (f"{one['delay']}: {one['found']:.2g}" for one in data["limits"])
    return (
        f"Left, the loss after {data['num_steps']} steps at a rate of {data['rate']}, by age of the gradients: "
        f"{'; '.join(ends)}. Right, the largest stable rate by age: {'; '.join(limits)}; "
        "the closed form runs through these points."
    )
