"""Who holds the variables, and how gradients meet, in the five strategies of tf.distribute."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, box, diagram, node_frame

DATA = ()
CAPTION = "V: a copy of all variables, or a part of them. Boxes: devices; frames: machines."
DEVICE, HOLDER, SERVER = COLORS[0], COLORS[2], COLORS[5]
BLOCKS = (
    ("Mirrored", "one machine,\nall its GPUs"),
    ("MultiWorker\nMirrored", "many machines"),
    ("TPU", "all cores\nof a TPU pod"),
    ("Central\nStorage", "one machine,\nvariables once"),
    ("Parameter\nServer", "asynchronous;\nservers hold them"),
)
WIDTH = 2.3


def draw():
    """Draw a small diagram of each strategy."""
    figure, axes = diagram((11.6, 4.6))
    for number, (name, remark) in enumerate(BLOCKS):
        middle = 0.05 + WIDTH * (number + 0.5)
        axes.text(middle, 4.25, name, ha="center", va="center", weight="bold", fontsize=18)
        axes.text(middle, 0.4, remark, ha="center", va="center", fontsize=16)
        (_mirrored, _workers, _mirrored, _central, _server)[number](axes, middle)
        if number:
            axes.plot([middle - WIDTH / 2] * 2, [0.1, 4.5], color="0.85", linewidth=1.5)
    return figure


def _frame(axes, middle, bottom, height):
    node_frame(axes, (middle - 1.0, bottom), (2.0, height))


def _pair(axes, middle, y, text="V"):
    for x in (middle - 0.58, middle + 0.58):
        box(axes, (x, y), text, (0.66, 0.6), DEVICE)


def _both_ways(axes, start, end):
    arrow(axes, start, end, COLORS[1], arrowstyle="<|-|>", mutation_scale=16)


def _mirrored(axes, middle):
    _frame(axes, middle, 1.75, 1.3)
    _pair(axes, middle, 2.4)
    _both_ways(axes, (middle - 0.27, 2.4), (middle + 0.27, 2.4))


def _workers(axes, middle):
    for bottom in (0.95, 2.55):
        _frame(axes, middle, bottom, 1.1)
        _pair(axes, middle, bottom + 0.55)
        _both_ways(axes, (middle - 0.27, bottom + 0.55), (middle + 0.27, bottom + 0.55))
    _both_ways(axes, (middle, 2.05), (middle, 2.6))


def _central(axes, middle):
    _frame(axes, middle, 1.2, 2.3)
    box(axes, (middle, 3.05), "V", (0.7, 0.6), HOLDER)
    _pair(axes, middle, 1.65, "GPU")
    for x in (middle - 0.5, middle + 0.5):
        _both_ways(axes, (x, 1.95), (middle + 0.3 * (x - middle), 2.75))


def _server(axes, middle):
    for x in (middle - 0.5, middle + 0.5):
        box(axes, (x, 3.2), "½ V", (0.8, 0.6), SERVER)
        for other in (middle - 0.5, middle + 0.5):
            _both_ways(axes, (x, 1.8), (other, 2.9))
    for x, name in ((middle - 0.5, "W 0"), (middle + 0.5, "W 1")):
        box(axes, (x, 1.5), name, (0.8, 0.6), DEVICE)


def words():
    """Return which device holds what, as text."""
    return (
        "MirroredStrategy: each GPU of one machine holds all variables; gradients are allreduced. "
        "MultiWorkerMirroredStrategy: the same over several machines. TPUStrategy: the same on the cores of a TPU. "
        "CentralStorageStrategy: one device holds the variables; GPUs of one machine compute. ParameterServerStrategy: "
        "servers hold parts of the variables; workers fetch them and push gradients, without waiting for each other."
    )
