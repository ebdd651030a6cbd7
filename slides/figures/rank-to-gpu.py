"""Which GPU a rank computes on: every task sees all GPUs of its node, and picks the one of its local rank."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, box, diagram, node_frame

DATA = ()
CAPTION = "Two nodes with four GPUs: eight tasks."

NUM_GPUS = 4


def draw():
    """Draw tasks above GPUs: thin lines to what a task sees, a thick arrow to what it takes."""
    figure, axes = diagram()
    for node in range(2):
        left = 0.2 + 5.75 * node
        node_frame(axes, (left, 0.15), (5.5, 4.0))
        axes.text(left + 2.75, 4.37, f"node {node}", ha="center", va="center", fontweight="bold")
        places = [left + 0.75 + 1.33 * local for local in range(NUM_GPUS)]
        for local, x in enumerate(places):
            for gpu in places:
                axes.plot([x, gpu], [2.55, 1.45], color="0.45", linewidth=1.6, linestyle=":", zorder=2)
            rank = node * NUM_GPUS + local
            box(axes, (x, 3.15), f"rank {rank}\nlocal {local}", (1.2, 1.15), color=COLORS[rank], fontsize=17)
            arrow(axes, (x, 2.55), (x, 1.4), color=COLORS[rank], linewidth=4)
            box(axes, (x, 0.95), f"GPU {local}", (1.2, 0.85), color=COLORS[rank], filled=False)
    return figure


def words():
    """Return which rank takes which GPU, as text."""
    return (
        "Ranks 0 to 3 are on node 0 and 4 to 7 on node 1; their local ranks are 0 to 3 on both. Each sees the four "
        "GPUs of its node and takes the one whose number is its local rank: rank 6, local rank 2, takes GPU 2 "
        "of node 1."
    )
