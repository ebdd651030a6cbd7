"""A hierarchical allreduce over two nodes: parts are summed within each node, then between nodes, then gathered."""

from matplotlib.patches import Rectangle

from workshop.slides.drawing import COLLECTIVE, arrow, diagram, node_frame

DATA = ()
CAPTION = "Two nodes of three GPUs; a filled square is a third of the array, summed by one local rank."
SIDE, NUM = 0.42, 3
THIRDS = ("0.2", "0.45", "0.65")  # of the array: shades, because colours are ranks
NETWORK = (0, (3, 1.5))  # dashes
NODES = (("node 0", 3.55), ("node 1", 1.15))
STAGES = (("1. reduce-scatter", 1.75), ("2. allreduce", 3.8), ("3. allgather", 5.85))  # and their places


def draw():
    """Draw the thirds that each GPU holds after each stage; only the second stage crosses the network."""
    figure, axes = diagram((7.0, 4.9))
    for name, x in STAGES:
        axes.text(x, 4.62, name, ha="center", va="center", fontsize=17, weight="bold")
    for node, y in NODES:
        node_frame(axes, (0.95, y - 0.85), (6.0, 1.7))
        axes.text(0.05, y, node, va="center", fontsize=17)
        for rank in range(NUM):
            height = y + 0.52 * (1 - rank)
            for stage, (_, x) in enumerate(STAGES):
                _thirds(axes, x, height, range(NUM) if stage == len(STAGES) - 1 else (rank,))
    x = STAGES[1][1]
    for rank in range(NUM):
        at = x + (rank - 1) * (SIDE + 0.03)
        ends = (at, NODES[0][1] - 0.24 + 0.52 * (1 - rank)), (at, NODES[1][1] + 0.24 + 0.52 * (1 - rank))
        arrow(axes, *ends, THIRDS[rank], arrowstyle="<|-|>", mutation_scale=14, shrinkA=0, shrinkB=0, linestyle=NETWORK)
    axes.text(x + 0.85, 2.35, "the slow links:\na third from each GPU", va="center", fontsize=16, color=COLLECTIVE)
    return figure


def _thirds(axes, x, y, held):
    """Draw the places of three thirds, filled where this GPU holds the sum."""
    for third in range(NUM):
        corner = (x + (third - 1.5) * (SIDE + 0.03), y - SIDE / 2)
        look = {"facecolor": THIRDS[third]} if third in held else {"facecolor": "white", "edgecolor": "0.8"}
        axes.add_patch(Rectangle(corner, SIDE, SIDE, **look))


def words():
    """Return the three stages as text."""
    return (
        "Two nodes of three GPUs, an array in three parts. First, each GPU sums one part within its node. Then GPUs "
        "with the same local rank sum this part over the network, on three links at once. Then all GPUs of a node get "
        "all parts."
    )
