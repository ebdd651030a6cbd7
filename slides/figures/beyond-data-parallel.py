"""Four ways to split training over four devices: by data, tensors, layers or state."""

from __future__ import annotations

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import diagram

DATA = ()
CAPTION = "A network of four layers, and its samples; each colour is one of four ranks."
HATCHES = ("", "//", "..", "xx")
TITLES = ("data", "tensor", "pipeline", "FSDP, ZeRO")
REMARKS = (
    "samples are split,\nlayers are whole",
    "every layer is split",
    "layers are dealt out",
    "like data; weights are\nstored in parts",
)
CELL, WIDTH = 0.5, 2.9


def draw():
    """Draw the layers' cells of each way, coloured by the rank that holds them, and the samples below."""
    figure, axes = diagram((11.6, 4.5))
    for number, (title, remark) in enumerate(zip(TITLES, REMARKS)):
        left = 0.45 + WIDTH * number
        middle = left + 2 * CELL
        axes.text(middle, 4.2, title, ha="center", weight="bold", fontsize=20)
        axes.text(middle, 0.35, remark, ha="center", va="center", fontsize=16)
        for layer in range(4):
            for part in range(4):
                place = (left + part * CELL, 1.95 + layer * CELL)
                _cell(axes, place, owner(title, layer, part))
        for part in range(4):
            _cell(axes, (left + part * CELL, 1.15), part if title in ("data", "FSDP, ZeRO") else None)
    axes.text(0.3, 2.95, "layers", rotation=90, va="center", ha="right", fontsize=16)
    axes.text(0.3, 1.36, "samples", rotation=90, va="center", ha="right", fontsize=16)
    return figure


def owner(title, layer, part):
    """Return the rank that holds a part of a layer; None if all ranks hold it."""
    return {"data": None, "tensor": part, "pipeline": layer, "FSDP, ZeRO": part}[title]


def _cell(axes, place, rank):
    color = "0.8" if rank is None else COLORS[rank]
    hatch = "" if rank is None else HATCHES[rank]
    height = 0.42
    axes.add_patch(Rectangle(place, CELL - 0.05, height, facecolor=color, hatch=hatch, edgecolor="white"))


def words():
    """Return what is split, as text."""
    return (
        "Data parallel: every rank holds all layers and sees a quarter of the samples. Tensor parallel: every layer is "
        "split in four; all ranks see all samples. Pipeline parallel: each rank holds one layer; samples pass through. "
        "FSDP or ZeRO: each rank stores a quarter of every layer and gathers the layer when needed; samples are split "
        "as in data parallel."
    )
