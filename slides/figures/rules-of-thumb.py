"""Rules of thumb, from one rank to one node to many nodes."""

from __future__ import annotations

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, diagram

DATA = ()
CAPTION = "Each column multiplies what stands to its left. Squares: ranks; frames: nodes."
COLUMNS = {
    "one rank": (
        "measure: what is longest?", "feed it ahead (deck 07)", "mixed precision",
        "a graph; XLA if it helps", "a large batch",
    ),
    "one node": ("all its GPUs first", "cores beside the GPU", "memory of the same node", "NCCL: check the build"),
    "many nodes": ("avoid messages", "hide them", "bundle them", "only then: more ranks"),
}  # fmt: skip
LEFT = (0.35, 4.5, 8.2)
SIDE, GAP = 0.3, 0.1


def draw():
    """Draw a picture of ranks above each list."""
    figure, axes = diagram((11.6, 4.7))
    for number, (left, (title, rules)) in enumerate(zip(LEFT, COLUMNS.items())):
        _ranks(axes, left, number)
        axes.text(left, 3.15, title, weight="bold", fontsize=22, color=COLORS[0])
        for line, rule in enumerate(rules):
            axes.text(left + 0.05, 2.6 - 0.52 * line, rule, fontsize=18)
        if number:
            arrow(axes, (left - 0.85, 4.15), (left - 0.2, 4.15))
    return figure


def _ranks(axes, left, number):
    """Draw one rank, a node of four, or three such nodes."""
    if number == 0:
        axes.add_patch(Rectangle((left, 4.0), SIDE, SIDE, facecolor=COLORS[0]))
        return
    size = 2 * SIDE + 3 * GAP
    for node in range(1 if number == 1 else 3):
        x = left + node * (size + 0.15)
        axes.add_patch(Rectangle((x, 3.7), size, size, facecolor="none", edgecolor="0.45", linewidth=2))
        for rank in range(4):
            place = (x + GAP + rank % 2 * (SIDE + GAP), 3.7 + GAP + rank // 2 * (SIDE + GAP))
            axes.add_patch(Rectangle(place, SIDE, SIDE, facecolor=COLORS[0]))


def words():
    """Say all rules."""
    return " ".join(f"{title.capitalize()}: {'; '.join(rules)}." for title, rules in COLUMNS.items())
