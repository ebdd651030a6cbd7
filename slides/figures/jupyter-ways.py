"""Two ways to a notebook on a compute node: the hub submits the job, or you submit it and open a tunnel."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, box, diagram

DATA = ()
CAPTION = "Above, a JupyterHub; below, a tunnel to your own job. Both end on a compute node."


def draw():
    """Draw both ways, one above the other."""
    figure, axes = diagram()
    box(axes, (1.1, 2.3), "browser", (1.7, 1.0), color="0.3")
    box(axes, (4.6, 3.5), "JupyterHub", (2.1, 0.9), color=COLORS[0])
    box(axes, (4.6, 1.1), "login node", (2.1, 0.9), color=COLORS[1])
    box(axes, (9.6, 2.3), "JupyterLab,\na job on a\ncompute node", (2.6, 1.5), color=COLORS[2])
    arrow(axes, (1.95, 2.6), (3.5, 3.4), color=COLORS[0])
    arrow(axes, (5.7, 3.5), (8.25, 2.75), color=COLORS[0])
    axes.text(2.3, 3.55, "https", ha="center", va="center", fontsize=16)
    axes.text(7.3, 3.75, "submits the job for you", ha="center", va="center", fontsize=16)
    arrow(axes, (1.95, 2.0), (3.5, 1.2), color=COLORS[1], linestyle="--")
    arrow(axes, (5.7, 1.1), (8.25, 1.85), color=COLORS[1], linestyle="--")
    axes.text(1.95, 1.05, "ssh -L", ha="center", va="center", fontsize=16)
    axes.text(7.5, 0.75, "tunnel to the node of\nthe job that you submitted", ha="center", va="center", fontsize=16)
    return figure


def words():
    """Return both ways as text."""
    return (
        "A browser reaches JupyterLab on a compute node in two ways: over https to a JupyterHub, which submits the "
        "job; or through ssh with a port forwarded by the login node to the node of a job that you submitted yourself."
    )
