"""A node with four GPUs, and the links between them that NCCL finds: NVLink, PCIe, the network."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, box, diagram, node_frame

DATA = ()
CAPTION = "A node as NCCL finds it; the node at the other end of the network looks the same."
GPUS_X = (0.96, 2.22, 3.48, 4.74)


def draw():
    """Draw the GPUs, what joins them, and the way out of the node."""
    figure, axes = diagram(HALF_INCH)
    node_frame(axes, (0.2, 0.95), (5.3, 3.55))
    axes.text(0.4, 1.25, "one node", ha="left", va="center", fontsize=16)
    box(axes, (2.85, 4.1), "NVLink, NVSwitch", (4.9, 0.5), COLORS[2])
    for number, x in enumerate(GPUS_X):
        axes.plot([x, x], [3.4, 3.85], color=COLORS[2], linewidth=7)
        axes.plot([x, x], [2.3, 2.8], color="0.5", linewidth=3)
        box(axes, (x, 3.1), f"GPU {number}", (1.12, 0.6), COLORS[0], fontsize=16)
    box(axes, (2.85, 2.05), "PCIe, CPU", (4.9, 0.5), "0.4")
    axes.plot([4.4, 4.4], [0.6, 1.8], color=COLORS[1], linewidth=4)
    box(axes, (4.4, 1.3), "NIC", (1.3, 0.5), COLORS[1])
    box(axes, (2.85, 0.4), "network: InfiniBand, …", (4.9, 0.5), COLORS[1], filled=False)
    return figure


def words():
    """Return what is joined to what, as text."""
    return (
        "NVLink and NVSwitch join the four GPUs of a node. PCIe also joins each GPU to the CPU and to the network "
        "card, from which a network such as InfiniBand leads to other nodes."
    )
