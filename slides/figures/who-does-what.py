"""Inside Horovod: frameworks above, a controller that negotiates, and back ends that move the data."""

from __future__ import annotations

from coursekit.pictures import COLORS, GREY
from workshop.slides.drawing import FULL_INCH, arrow, box, diagram

DATA = ()
CAPTION = "The build of Horovod and the launcher decide who negotiates and who moves the data."
FRAMEWORKS = ("TensorFlow", "Keras", "PyTorch", "MXNet")
SMALL = (2.1, 0.6)


def draw():
    """Draw three layers."""
    figure, axes = diagram(FULL_INCH)
    for index, name in enumerate(FRAMEWORKS):
        x = 1.7 + 2.73 * index
        box(axes, (x, 4.2), name, (2.4, 0.6), COLORS[0])
        arrow(axes, (x, 3.9), (x, 3.4), GREY)
    box(axes, (5.8, 3.05), "Horovod: a thread in every rank collects what is ready", (10.6, 0.65), "0.25", fontsize=19)
    for x, width, title, names, color in (
        (2.45, 3.9, "who negotiates: names, a few bytes", ("MPI", "Gloo"), COLORS[3]),
        (8.3, 5.6, "who moves the data: the gradients", ("MPI", "Gloo", "NCCL", "oneCCL"), COLORS[2]),
    ):
        arrow(axes, (x, 2.7), (x, 2.2), GREY)
        axes.text(x, 1.95, title, ha="center", va="center", fontsize=16)
        step = width / len(names)
        for index, name in enumerate(names):
            center = (x - width / 2 + step * (index + 0.5), 1.2)
            box(axes, center, name, (step - 0.15, 0.65), color, filled=False, fontsize=18)
    axes.text(2.45, 0.45, "always on the CPUs", ha="center", va="center", fontsize=16)
    axes.text(6.9, 0.45, "CPU", ha="center", va="center", fontsize=16)
    axes.text(9.0, 0.4, "NVIDIA,\nAMD (RCCL)", ha="center", va="center", fontsize=16)
    axes.text(10.5, 0.45, "Intel", ha="center", va="center", fontsize=16)
    return figure


def words():
    """Return the layers as text."""
    return (
        "TensorFlow, Keras, PyTorch and MXNet pass their gradients to Horovod; in every rank, one of its threads "
        "collects what is ready. MPI or Gloo negotiates; MPI or Gloo on CPUs, NCCL on NVIDIA's GPUs (RCCL on AMD's) or "
        "oneCCL on Intel's hardware moves the data."
    )
