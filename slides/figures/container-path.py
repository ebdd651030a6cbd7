"""The path of a container: built where you are root, packed into one file, run by every rank."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, box, diagram

DATA = ()
CAPTION = "From a Docker image to ranks on a supercomputer."


def draw():
    """Draw the four stations, and what stays outside the container."""
    figure, axes = diagram()
    box(axes, (1.25, 3.4), "Dockerfile\non your laptop", (2.2, 1.2), color="0.3")
    box(axes, (4.35, 3.4), "image\nin a registry", (2.2, 1.2), color="0.3")
    box(axes, (7.65, 3.4), "one file\n.sif or .sqsh", (2.3, 1.2), color=COLORS[1])
    for start, end in ((2.35, 3.25), (5.45, 6.5)):
        arrow(axes, (start, 3.4), (end, 3.4))
    axes.text(2.8, 4.3, "build, push", ha="center", va="center", fontsize=16)
    axes.text(5.97, 4.3, "pull, on the login node", ha="center", va="center", fontsize=16)
    for rank, x in enumerate((7.0, 8.6, 10.2)):
        box(axes, (x, 1.65), f"rank {rank}", (1.35, 0.8), color=COLORS[rank])
        arrow(axes, (7.65, 2.75), (x, 2.1), linewidth=2)
    axes.text(9.15, 3.4, "srun: every rank\nopens the same file", ha="left", va="center", fontsize=16)
    box(axes, (8.6, 0.5), "from the host: GPU driver, fabric, /scratch", (5.6, 0.66), color="0.3", filled=False)
    for x in (7.0, 8.6, 10.2):
        arrow(axes, (x, 0.85), (x, 1.22), linewidth=2)
    axes.text(0.2, 1.75, "No daemon and no root on the machine;\ninside you are who you are outside.", va="center")
    axes.text(0.2, 0.55, "One large file, not 50 000 small ones.", va="center")
    return figure


def words():
    """Return the path as text."""
    return (
        "A Dockerfile on your laptop is built and pushed as an image to a registry; on the login node it is pulled "
        "into one file, .sif or .sqsh; srun starts ranks, which all open this file. GPU driver, fabric and scratch "
        "come from the host."
    )
