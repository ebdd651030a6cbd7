"""Where the averaging hangs: in Horovod at the optimiser, in DDP at the model's backward pass."""

from __future__ import annotations

from coursekit.pictures import COLORS
from coursekit.slides.drawing import COMMUNICATE, arrow, box, diagram

DATA = ()
CAPTION = "One rank; the hatched frame is what the library wraps."
MODEL, OPTIMIZER = COLORS[0], COLORS[2]


def draw():
    """Draw both chains, one above the other."""
    figure, axes = diagram((11.6, 4.5))
    for y, name, wrapped in ((3.35, "Horovod\n(TensorFlow)", 2), (1.1, "DDP\n(PyTorch)", 1)):
        axes.text(0.85, y, name, ha="center", va="center", weight="bold", fontsize=20)
        x = (3.1, 5.9, 9.6)
        box(axes, (x[0], y), "forward", (1.8, 0.85), MODEL)
        box(axes, (x[1], y), "backward", (1.8, 0.85), MODEL)
        box(axes, (x[2], y), "optimiser", (1.8, 0.85), OPTIMIZER)
        arrow(axes, (x[0] + 0.9, y), (x[1] - 0.9, y))
        arrow(axes, (x[1] + 0.9, y), (x[2] - 0.9, y))
        center = x[wrapped] if wrapped == 2 else (x[0] + x[1]) / 2  # noqa: PLR2004  # the optimiser
        width = 2.6 if wrapped == 2 else 5.3  # noqa: PLR2004  # as above
        _wrap(axes, center, y, width)
        at = 7.75 if wrapped == 2 else 7.15  # noqa: PLR2004  # as above
        axes.plot([at], [y], "D", color=COMMUNICATE, markersize=17, zorder=5)
        axes.text(at, y + 0.62 if wrapped == 2 else y + 0.42, "average", ha="center", color=COMMUNICATE, weight="bold")  # noqa: PLR2004  # as above
    return figure


def _wrap(axes, center, y, width):
    from matplotlib.patches import FancyBboxPatch  # noqa: PLC0415  # one use

    place = (center - width / 2, y - 0.68)
    options = {"facecolor": "none", "edgecolor": COMMUNICATE, "linewidth": 3, "linestyle": "--"}
    axes.add_patch(FancyBboxPatch(place, width, 1.36, boxstyle="round,pad=0.05", **options))


def words():
    """Say what is wrapped."""
    return (
        "Both ranks run forward, backward, optimiser. Horovod wraps the optimiser: gradients are averaged when they "
        "reach it. DDP wraps the model: gradients are averaged by hooks while the backward pass runs, and any "
        "optimiser may follow."
    )
