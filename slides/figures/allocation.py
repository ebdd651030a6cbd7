"""Job, allocation, job step and task, nested in each other."""

from matplotlib.patches import FancyBboxPatch

from coursekit.pictures import COLORS
from workshop.slides.drawing import diagram, ink_on, node_frame

DATA = ()
CAPTION = "A job on two nodes with four GPUs each, and its two job steps."


def draw():
    """Draw the two nodes of an allocation as columns, and job steps with their tasks as bands over both."""
    figure, axes = diagram()
    _frame(axes, (1.5, 0.15), (10.0, 4.3))
    axes.text(1.7, 4.18, "allocation: the job's resources until it ends", ha="left", va="center")
    for node in range(2):
        x = 3.0 + 4.25 * node
        node_frame(axes, (x, 0.3), (3.95, 3.4))
        axes.text(x + 0.15, 3.45, f"node {node}", ha="left", va="center", fontsize=16)
    _step(axes, 2.3, "step 0\nsrun -n 1", [0])
    _step(axes, 0.85, "step 1\nsrun -n 8", range(8))
    axes.annotate("", (1.2, 0.35), (1.2, 4.2), arrowprops={"arrowstyle": "-|>", "color": "0.4", "linewidth": 2.5})
    axes.text(0.75, 2.3, "time", ha="center", va="center", rotation=90)
    return figure


def _frame(axes, corner, size):
    style = "round,pad=0,rounding_size=0.1"
    axes.add_patch(FancyBboxPatch(corner, *size, boxstyle=style, facecolor="none", edgecolor="0.25", lw=2))


def _step(axes, y, text, tasks):
    """Draw one job step: a band over both nodes, and a box for every task."""
    axes.add_patch(
        FancyBboxPatch((2.9, y - 0.5), 8.45, 1.0, boxstyle="round,pad=0,rounding_size=0.1", facecolor="white")
    )
    axes.text(2.25, y, text, ha="center", va="center", fontsize=16)
    for task in tasks:
        node, place = divmod(task, 4)
        x = 3.5 + 4.25 * node + 0.97 * place
        axes.add_patch(
            FancyBboxPatch(
                (x - 0.43, y - 0.38), 0.86, 0.76, boxstyle="round,pad=0,rounding_size=0.08", facecolor=COLORS[task]
            )
        )
        axes.text(
            x, y, f"task\n{task}", ha="center", va="center", color=ink_on(COLORS[task]), fontsize=16, linespacing=1.0
        )


def words():
    """Return what contains what, as text."""
    return (
        "An allocation of two nodes. First, step 0 runs with one task on node 0, then step 1 with eight tasks, "
        "0 to 3 on node 0 and 4 to 7 on node 1."
    )
