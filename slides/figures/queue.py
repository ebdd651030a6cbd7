"""Why a job waits: a plan of nodes over time, with a large job that waits, and a small one that slips in."""

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ()
CAPTION = "A scheduler's plan for six nodes: jobs that run, a large one that waits, a short one that fits before it."

# name, first node, number of nodes, begin in hours, hours, colour
RUNNING = "0.78"
JOBS = (
    ("running", 0, 3, 0, 2.0, RUNNING),
    ("running", 3, 2, 0, 3.5, RUNNING),
    ("large job: first in line,\nplanned for five nodes", 0, 5, 3.5, 2.5, COLORS[0]),
    ("short job:\nslips in", 0, 3, 2.0, 1.4, COLORS[1]),
)


def draw():
    """Draw every job as a rectangle of nodes and hours."""
    figure, (axes,) = canvas()
    for name, node, num_nodes, begin, hours, color in JOBS:
        corner, size = (begin, node + 0.06), (hours, num_nodes - 0.12)
        axes.add_patch(Rectangle(corner, *size, facecolor=color, edgecolor="white", lw=2))
        ink = "black" if color == RUNNING else "white"
        axes.text(begin + hours / 2, node + num_nodes / 2, name, ha="center", va="center", color=ink)
    axes.add_patch(Rectangle((0.02, 5.06), 5.96, 0.88, facecolor="none", edgecolor="0.5", lw=2, ls=":"))
    axes.text(3.0, 5.5, "free, but one node is too few for either", ha="center", va="center")
    axes.set(xlim=(0, 6.05), ylim=(0, 6), xlabel="hours from now", ylabel="node")
    axes.set_yticks([number + 0.5 for number in range(6)], [str(number) for number in range(6)])
    axes.grid(visible=False)
    return figure


def words():
    """Return the plan as text."""
    return (
        "Nodes 0 to 2 are taken for 2 hours, nodes 3 and 4 for 3.5 hours, node 5 is free. A large job needs five nodes "
        "and is planned to start in 3.5 hours. A short job of 3 nodes and 1.4 hours fits in before it on nodes 0 to 2."
    )
