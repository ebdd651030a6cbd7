"""A node with two CPUs: each has its own memory, GPUs and network links, and a slow bridge to the other."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, box, diagram

DATA = ("sites",)
CAPTION = "A V100 node of Jean Zay. GPUs and links are assumed to be divided evenly: ask nvidia-smi topo -m."
SITE, PARTITION = "jean-zay", "v100"
NUM_SOCKETS, NUM_LINKS = 2, 4
MEMORY, CPU, GPU, LINK = "0.35", COLORS[0], COLORS[2], COLORS[5]


def draw(sites):
    """Draw two sockets; a good path within one, a bad path from one to the other."""
    partition = sites[SITE].partitions[PARTITION]
    figure, axes = diagram((11.6, 4.7))
    cores = partition.num_cpus_per_node // NUM_SOCKETS
    per_socket = partition.num_gpus_per_node // NUM_SOCKETS
    for socket in range(NUM_SOCKETS):
        middle = 2.75 + 6.1 * socket
        _frame(axes, middle, f"NUMA node {socket}")
        box(axes, (middle, 3.05), f"CPU {socket}, {cores} cores", (2.3, 0.75), CPU)
        outer = -1.0 if socket == 0 else 1.0
        box(axes, (middle + 1.9 * outer, 3.05), "memory", (1.32, 0.75), MEMORY)
        axes.plot([middle + 1.15 * outer, middle + 1.24 * outer], [3.05, 3.05], color="black", linewidth=3)
        for number in range(per_socket):
            # GPUs towards the other socket, links outside: no line crosses another.
            inward = 1.15 - 1.3 * (number if socket else per_socket - 1 - number)
            x = middle - outer * inward
            box(axes, (x, 1.3), f"GPU {per_socket * socket + number}", (1.1, 0.75), GPU)
            axes.plot([x, middle - 0.4 * outer * inward], [1.68, 2.67], color="black", linewidth=3)
        x = middle + 1.75 * outer
        box(axes, (x, 1.3), f"{NUM_LINKS // NUM_SOCKETS} links", (1.25, 0.75), LINK)
        axes.plot([x, middle + 0.7 * outer], [1.68, 2.67], color="black", linewidth=3)
    arrow(axes, (3.95, 3.05), (7.65, 3.05), COLORS[1], linewidth=4, arrowstyle="<|-|>")
    axes.text(5.8, 3.35, "slow bridge", ha="center", color=COLORS[1], weight="bold")
    axes.text(2.75, 0.22, "rank 0: all within its node", ha="center", weight="bold", color=COLORS[2])
    axes.text(8.85, 0.22, "badly placed: core here, GPU there", ha="center", weight="bold", color=COLORS[1])
    arrow(axes, (7.75, 2.75), (4.45, 1.3), COLORS[1], bend=-0.12, linestyle="--", linewidth=3)
    return figure


def _frame(axes, middle, title):
    from matplotlib.patches import FancyBboxPatch  # one use

    place = (middle - 2.62, 0.65)
    axes.add_patch(FancyBboxPatch(place, 5.24, 3.0, boxstyle="round,pad=0.05", facecolor="0.96", edgecolor="0.6"))
    axes.text(middle, 3.95, title, ha="center", weight="bold")


def words(sites):
    """Return the parts and the point as text."""
    partition = sites[SITE].partitions[PARTITION]
    cores = partition.num_cpus_per_node // NUM_SOCKETS
    per_socket = partition.num_gpus_per_node // NUM_SOCKETS
    return (
        f"Two NUMA nodes, each with a CPU of {cores} cores, its own memory, {per_socket} GPUs and "
        f"{NUM_LINKS // NUM_SOCKETS} network links. A slow bridge joins the CPUs. A rank whose cores, memory, GPU and "
        "link are in one NUMA node never crosses it; one whose GPU belongs to the other CPU crosses it for every batch."
    )
