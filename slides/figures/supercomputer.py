"""A supercomputer as a student sees it: five things, and the ones that the student talks to."""

from coursekit.pictures import COLORS, GREY
from workshop.slides.drawing import arrow, box, diagram

DATA = ()
CAPTION = "The parts of a supercomputer, as its users meet them."

NUM_ROWS, NUM_COLUMNS = 3, 6
LEFT, RIGHT = 5.0, 11.4


def draw():
    """Draw laptop, login node, scheduler, nodes on a fabric, and storage, and who talks to whom."""
    figure, axes = diagram()
    box(axes, (0.95, 3.2), "your\nlaptop", (1.5, 1.1), color="0.35")
    box(axes, (3.2, 3.2), "login node", (1.7, 1.1), color=COLORS[0])
    box(axes, (3.2, 1.25), "scheduler\n(Slurm)", (1.7, 1.1), color=COLORS[1])
    arrow(axes, (1.75, 3.2), (2.3, 3.2))
    axes.text(2.0, 3.75, "ssh", ha="center", va="center", fontsize=16)
    arrow(axes, (3.2, 2.6), (3.2, 1.8))
    axes.text(2.2, 2.2, "sbatch", ha="center", va="center", fontsize=16)
    _nodes(axes)
    arrow(axes, (4.1, 1.5), (5.55, 1.98))
    axes.text(4.75, 2.1, "starts", ha="center", va="center", fontsize=16)
    box(axes, (8.2, 0.42), "storage: home, scratch, data sets", (6.4, 0.66), color=COLORS[2])
    arrow(axes, (8.2, 1.32), (8.2, 0.8), arrowstyle="<|-|>")
    axes.text(8.45, 1.06, "all nodes see the same files", ha="left", va="center", fontsize=16)
    return figure


def _nodes(axes):
    """Draw compute nodes, three of which run the job, on their fabric."""
    axes.text((LEFT + RIGHT) / 2, 4.35, "compute nodes: GPUs, cores, memory", ha="center", va="center")
    axes.plot([LEFT + 0.3, RIGHT - 0.1], [1.42, 1.42], color=GREY, linewidth=7, solid_capstyle="round")
    axes.text(LEFT + 0.2, 1.3, "fabric", ha="right", va="center", fontsize=16)
    step = (RIGHT - LEFT - 0.4) / NUM_COLUMNS
    for column in range(NUM_COLUMNS):
        x = LEFT + 0.4 + step * (column + 0.5)
        axes.plot([x, x], [1.45, 3.9], color=GREY, linewidth=2, zorder=0)
        for row in range(NUM_ROWS):
            ours = row == 0 and column < 3
            box(
                axes,
                (x, 1.98 + 0.82 * row),
                "yours" if ours else "",
                (0.86, 0.6),
                COLORS[1] if ours else "0.78",
                fontsize=16,
            )


def words():
    """Return what is connected with what, as text."""
    return (
        "From your laptop, ssh leads to the login node; there, sbatch passes a job to Slurm, the scheduler, which "
        "starts it on compute nodes; of 18 drawn, 3 are yours. A fabric joins the nodes, and all see the same storage."
    )
