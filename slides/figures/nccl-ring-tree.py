"""NCCL's two shapes over two nodes with four GPUs each: a ring through all, and a tree between chains."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import FULL_INCH, arrow, box, diagram, node_frame

DATA = ()
CAPTION = "Both shapes cross the network as rarely as possible."
INSIDE, ACROSS = COLORS[2], COLORS[1]
ROWS = (3.5, 2.6, 1.7, 0.8)
SIZE = (1.15, 0.55)


def draw():
    """Draw the ring on the left and the tree on the right."""
    figure, axes = diagram(FULL_INCH)
    for left, title in ((0.3, "ring"), (6.2, "tree")):
        axes.text(left + 2.55, 4.4, title, ha="center", va="center", weight="bold")
        for node in range(2):
            x = left + 1.15 + 2.8 * node
            node_frame(axes, (x - 0.95, 0.35), (1.9, 3.6))
            axes.text(x, 0.15, f"node {node}", ha="center", va="center", fontsize=16)
            for gpu, y in enumerate(ROWS):
                box(axes, (x, y), f"GPU {gpu}", SIZE, COLORS[0], fontsize=16)
    axes.text(2.85, ROWS[0] - 0.3, "network", color=ACROSS, ha="center", va="center", fontsize=16)
    axes.text(2.85, ROWS[2] + 0.1, "NVLink,\nPCIe", color=INSIDE, ha="center", va="center", fontsize=16)
    _ring(axes, 1.45, 4.25)
    _tree(axes, 7.35, 10.15)
    return figure


def _ring(axes, one, two):
    for upper, lower in zip(ROWS, ROWS[1:]):
        arrow(axes, (one, lower + 0.28), (one, upper - 0.28), INSIDE, shrinkA=0, shrinkB=0)
        arrow(axes, (two, upper - 0.28), (two, lower + 0.28), INSIDE, shrinkA=0, shrinkB=0)
    arrow(axes, (one + 0.6, ROWS[0]), (two - 0.6, ROWS[0]), ACROSS, linestyle=(0, (3, 1.5)))
    arrow(axes, (two - 0.6, ROWS[3]), (one + 0.6, ROWS[3]), ACROSS, linestyle=(0, (3, 1.5)))


def _tree(axes, one, two):
    for x in (one, two):
        for upper, lower in zip(ROWS, ROWS[1:]):
            arrow(
                axes,
                (x, lower + 0.28),
                (x, upper - 0.28),
                INSIDE,
                arrowstyle="<|-|>",
                mutation_scale=13,
                shrinkA=0,
                shrinkB=0,
            )
    style = {"arrowstyle": "<|-|>", "linestyle": (0, (3, 1.5))}
    arrow(axes, (one + 0.6, ROWS[0]), (two - 0.6, ROWS[0]), ACROSS, **style)


def words():
    """Return the two shapes as text."""
    return (
        "Two nodes of four GPUs. The ring goes up through node 0, over the network, down through node 1 and back over "
        "the network. The tree sums along a chain in each node, and only the first GPUs exchange over the network."
    )
