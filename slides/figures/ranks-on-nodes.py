"""Twelve ranks on four nodes with three GPUs each: rank, local rank and size."""

from __future__ import annotations

from workshop.slides.drawing import FULL_INCH, box, diagram, node_frame

DATA = ()
CAPTION = "Four nodes, three tasks on each. A column is a node, a row a local rank."
NUM_NODES, PER_NODE = 4, 3
WIDTH = 2.45
RANK = "0.35"  # there are not twelve colours for twelve ranks


def draw():
    """Draw a frame for each node, and in it its ranks above the GPUs that they use."""
    figure, axes = diagram(FULL_INCH)
    for node in range(NUM_NODES):
        x = 2.55 + 2.58 * node
        node_frame(axes, (x - WIDTH / 2, 0.3), (WIDTH, 3.7))
        axes.text(x, 4.3, f"node {node}", ha="center", va="center", weight="bold")
        for local in range(PER_NODE):
            y = 3.45 - 1.2 * local
            box(axes, (x - 0.45, y), f"rank {PER_NODE * node + local}", (1.35, 0.7), RANK, fontsize=19)
            box(axes, (x + 0.75, y), f"GPU\n{local}", (0.75, 0.85), "0.35", fontsize=16, filled=False)
    for local in range(PER_NODE):
        y = 3.45 - 1.2 * local
        axes.text(1.15, y, f"local\nrank {local}", ha="right", va="center", fontsize=17)
    return figure


def words():
    """Return where each rank is, as text."""
    nodes = [
        f"node {node} has ranks {', '.join(str(PER_NODE * node + local) for local in range(PER_NODE))}"
        for node in range(NUM_NODES)
    ]
    return f"{'; '.join(nodes)}. On each node the local ranks are 0, 1 and 2, and each uses the GPU of its local rank."
