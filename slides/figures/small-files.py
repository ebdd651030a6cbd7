"""Opening files on a parallel file system: every open asks a metadata server, which all users share."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, box, diagram

DATA = ()
CAPTION = "Metadata servers keep names, rights and places of files; contents come from many storage servers."


def draw():
    """Draw nodes to the left, the metadata server and the storage servers to the right."""
    figure, axes = diagram()
    nodes = (("somebody's ls", 4.15), ("another project", 3.3), ("your node 1", 1.6), ("your node 2", 0.75))
    for number, (name, y) in enumerate(nodes):
        mine = name.startswith("your")
        box(axes, (1.4, y), name, (2.5, 0.62), COLORS[0] if mine else "0.45", fontsize=16)
        arrow(axes, (2.7, y + 0.1), (5.2, 3.62 - 0.16 * number), COLORS[1])
        if mine:
            arrow(axes, (2.7, y - 0.1), (5.2, y * 0.3 + 0.63), COLORS[2])
    box(axes, (6.5, 3.4), "metadata server", (2.5, 0.8), COLORS[1], fontsize=16)
    for server in range(4):
        box(axes, (6.0 + 1.5 * server, 0.95), f"storage {server + 1}", (1.4, 0.8), COLORS[2], fontsize=16)
    axes.text(7.9, 3.65, "every open: one request", va="center", color=COLORS[1], weight="bold")
    axes.text(7.9, 3.15, "1 281 167 images, or 1024 files", va="center", fontsize=16)
    axes.text(8.2, 1.65, "contents: many servers at once", ha="center", va="center", color=COLORS[2], weight="bold")
    return figure


def words():
    """Return the text alternative."""
    return (
        "Two of your nodes, another project and somebody's ls all ask the metadata server when they open files: one "
        "request each time, for 1 281 167 single images or for 1024 files. The contents come from many storage "
        "servers at once."
    )
