"""One data-parallel step on three ranks, in five pictures: copies, shards, gradients, average, update."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import COLLECTIVE, arrow, box, diagram

DATA = ()
CAPTION = "One synchronous step on three ranks; the numbers are made up."
NUM_STEPS, NUM_RANKS = 5, 3
GRADIENTS = (3, 1, 2)
WEIGHT, RATE = 5.0, 0.5
AVERAGE = sum(GRADIENTS) / NUM_RANKS
COLUMNS = (3.3, 6.75, 10.2)
ROWS = {"model": 4.0, "shard": 3.0, "gradient": 2.0, "average": 1.17, "update": 0.34}
SIZE = (2.5, 0.58)
LABELS = ("copy", "shard", "gradient", "allreduce", "update")


def draw():
    """Draw the five pictures."""
    return [draw_step(step) for step in range(1, NUM_STEPS + 1)]


def draw_step(last):
    """Draw everything up to a step; new boxes are filled, older ones are only framed."""
    figure, axes = diagram()
    for number, (name, y) in enumerate(zip(LABELS, ROWS.values()), 1):
        bold = "bold" if number == last else "normal"
        color = "black" if number <= last else "0.6"
        axes.text(0.05, y, f"{number} {name}", va="center", fontsize=17, weight=bold, color=color)
    for rank, x in enumerate(COLUMNS):
        texts = (
            f"rank {rank}: w = {WEIGHT:g}",
            f"samples {8 * rank} to {8 * rank + 7}",
            f"gradient {GRADIENTS[rank]}",
            None,
            f"w = {WEIGHT:g} - {RATE:g} · {AVERAGE:g} = {WEIGHT - RATE * AVERAGE:g}",
        )
        for number, (text, y) in enumerate(zip(texts, ROWS.values()), 1):
            if number > last:
                continue
            if number > 1:
                above = list(ROWS.values())[number - 2]
                arrow(axes, (x, above - 0.29), (x, y + 0.29), linewidth=2)
            if text:
                box(axes, (x, y), text, SIZE, COLORS[rank], filled=number == last, fontsize=17)
    if last > 3:  # there is an average from the fourth on
        center, width = (COLUMNS[0] + COLUMNS[-1]) / 2, COLUMNS[-1] - COLUMNS[0] + SIZE[0]
        described = f"average ({' + '.join(map(str, GRADIENTS))}) / {NUM_RANKS} = {AVERAGE:g}, the same on all ranks"
        box(axes, (center, ROWS["average"]), described, (width, 0.5), COLLECTIVE, filled=last == 4, fontsize=17)
    return figure


def words():
    """Return the five pictures as text."""
    return [
        f"Step 1: three ranks each hold a copy of the model, with the same weight {WEIGHT:g}.",
        "Step 2: each rank takes its own shard of the batch: samples 0 to 7, 8 to 15, and 16 to 23.",
        f"Step 3: each rank computes the gradient of its shard; they differ: {', '.join(map(str, GRADIENTS))}.",
        f"Step 4: an allreduce gives all ranks the average of the gradients, {AVERAGE:g}.",
        f"Step 5: each rank applies the same update, to {WEIGHT - RATE * AVERAGE:g}; the copies are equal again.",
    ]
