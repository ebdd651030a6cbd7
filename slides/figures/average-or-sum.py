"""The step from the gradients of four ranks if they are averaged, summed, or summed with a scaled rate."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, box, diagram

DATA = ()
CAPTION = "Four ranks; g is the mean gradient over all their samples."
NUM_RANKS = 4
ROWS = (
    ("average", "g", "4η", "4η · g", "scaled once: as intended", "black"),
    ("sum", "4g", "η", "4η · g", "scaled once, by the sum", "black"),
    ("sum", "4g", "4η", "16η · g", "scaled twice", COLORS[1]),
)


def draw():
    """Draw gradients, allreduce, rate and step in three rows."""
    figure, axes = diagram()
    heads = ((1.3, "gradients"), (3.75, "allreduce"), (5.55, "result"), (7.0, "rate"), (8.7, "step"))
    for x, text in heads:
        axes.text(x, 4.3, text, ha="center", va="center", fontweight="bold")
    for row, (how, result, rate, step, says, color) in enumerate(ROWS):
        y = 3.45 - row * 1.4
        for rank in range(NUM_RANKS):
            box(axes, (0.4 + rank * 0.6, y), f"g{'₀₁₂₃'[rank]}", size=(0.52, 0.6), color=COLORS[rank], fontsize=16)
        arrow(axes, (2.55, y), (3.0, y))
        box(axes, (3.75, y), how, size=(1.4, 0.7), color="0.25")
        arrow(axes, (4.5, y), (5.1, y))
        axes.text(5.55, y, result, ha="center", va="center", fontsize=24)
        axes.text(6.25, y, r"$\times$", ha="center", va="center", fontsize=22)
        axes.text(7.0, y, rate, ha="center", va="center", fontsize=24)
        axes.text(7.7, y, "=", ha="center", va="center", fontsize=22)
        axes.text(8.7, y + 0.02, step, ha="center", va="center", fontsize=26, fontweight="bold", color=color)
        axes.text(9.55, y, says.replace(": ", ":\n").replace(", ", ",\n"), va="center", fontsize=17, color=color)
    return figure


def words():
    """Return the step of each row as text."""
    parts = [
        f"{how} gives {result}, which times a rate of {rate} is a step of {step} ({says})"
        for how, result, rate, step, says, _ in ROWS
    ]
    return f"Gradients of {NUM_RANKS} ranks. {'; '.join(parts)}."
