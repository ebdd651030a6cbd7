"""The seven changes that turn a script into a Horovod script, each as a small picture of four ranks."""

from __future__ import annotations

from matplotlib.patches import Polygon, Rectangle

from coursekit.pictures import COLORS, GREY
from workshop.slides.drawing import COLLECTIVE, HALF_INCH, arrow, box, diagram, ink_on, node_frame

DATA = ()
CAPTION = "Four ranks."
ROWS = (3.85, 2.85, 1.85, 0.85)
LOWER_ROWS = (3.25, 2.45, 1.65, 0.85)  # below a line of samples
GRADIENTS = ((0.55, 0.3), (0.65, -0.2), (0.35, 0.5), (0.65, 0.1))
MEAN = (0.55, 0.18)


def draw():
    """Draw one picture for each change, in the order of the deck."""
    return [_init(), _pin(), _shard(), _scale(), _average(), _broadcast(), _write()]


def _ranks(x=0.85, width=1.4):
    figure, axes = diagram(HALF_INCH)
    for rank, y in enumerate(ROWS):
        box(axes, (x, y), f"rank {rank}", (width, 0.6), COLORS[rank])
    return figure, axes


def _init():
    figure, axes = _ranks()
    for rank, y in enumerate(ROWS):
        axes.text(2.6, y, f"“I am {rank} of 4.”", va="center", fontsize=20)
    for upper, lower in zip(ROWS, ROWS[1:]):
        arrow(axes, (0.85, upper - 0.3), (0.85, lower + 0.3), GREY, arrowstyle="<|-|>", mutation_scale=14, shrinkA=0)
    return figure


def _pin():
    figure, axes = _ranks()
    for node, top in enumerate((4.35, 2.35)):
        node_frame(axes, (0.05, top - 1.9), (5.55, 1.8))
        axes.text(5.4, top - 0.98, f"node {node}", ha="center", va="center", rotation=90, fontsize=16)
    for rank, y in enumerate(ROWS):
        arrow(axes, (1.6, y), (3.4, y), COLORS[rank])
        axes.text(2.45, y + 0.22, f"local {rank % 2}", ha="center", va="center", fontsize=16)
        box(axes, (4.2, y), f"GPU {rank % 2}", (1.5, 0.6), "0.3")
    return figure


def _shard():
    figure, axes = diagram(HALF_INCH)
    for sample in range(12):
        rank = sample % 4
        _sample(axes, 0.25 + 0.44 * sample, 4.1, rank, sample)
        _sample(axes, 2.4 + 0.95 * (sample // 4), LOWER_ROWS[rank] - 0.2, rank, sample)
    for rank, y in enumerate(LOWER_ROWS):
        box(axes, (0.9, y), f"rank {rank}", (1.4, 0.55), COLORS[rank])
    return figure


def _sample(axes, x, y, rank, sample):
    axes.add_patch(Rectangle((x, y), 0.42, 0.42, facecolor=COLORS[rank], edgecolor="white", linewidth=1))
    axes.text(x + 0.21, y + 0.2, str(sample), ha="center", va="center", color=ink_on(COLORS[rank]), fontsize=16)


def _scale():
    figure, axes = _ranks()
    for rank, y in enumerate(ROWS):
        axes.add_patch(Rectangle((1.75, y - 0.3), 1.1, 0.6, facecolor=COLORS[rank], linewidth=0))
        axes.text(2.3, y - 0.01, "batch", ha="center", va="center", color=ink_on(COLORS[rank]), fontsize=16)
    axes.add_patch(Rectangle((1.65, 0.42), 1.3, 3.85, facecolor="none", edgecolor="black", linewidth=2))
    axes.text(4.4, 3.75, "4 batches\nin one step", ha="center", va="center")
    arrow(axes, (3.3, 2.0), (3.88, 2.16), GREY)
    axes.text(3.55, 1.62, "rate η", ha="center", va="center", fontsize=16)
    arrow(axes, (3.3, 0.75), (5.6, 1.4), "black", linewidth=4)
    axes.text(4.75, 0.72, "rate 4 η", ha="center", va="center", fontsize=18)
    return figure


def _average():
    figure, axes = _ranks(width=1.3)
    for rank, y in enumerate(ROWS):
        x, slope = GRADIENTS[rank]
        arrow(axes, (1.7, y - slope / 2), (1.7 + x, y + slope / 2), COLORS[rank], linewidth=3.5, shrinkA=0, shrinkB=0)
        x, slope = MEAN
        arrow(axes, (4.75, y - slope / 2), (4.75 + x, y + slope / 2), "black", linewidth=3.5, shrinkA=0, shrinkB=0)
        arrow(axes, (2.5, y), (2.95, y), GREY)
        arrow(axes, (4.05, y), (4.5, y), GREY)
    box(axes, (3.5, 2.35), "", (0.95, 3.8), COLLECTIVE)
    axes.text(3.5, 2.35, "allreduce: mean", rotation=90, ha="center", va="center", color="white")
    return figure


def _broadcast():
    figure, axes = _ranks()
    for rank, y in enumerate(ROWS):
        _weights(axes, 2.35, y, COLORS[rank], rank)
        _weights(axes, 4.9, y, COLORS[0], 0)
        arrow(axes, (2.85, ROWS[0]), (4.4, y), COLORS[0])
    axes.text(2.35, 0.2, "before", ha="center", va="center", fontsize=16)
    axes.text(4.9, 0.2, "after", ha="center", va="center", fontsize=16)
    return figure


def _weights(axes, x, y, color, rank):
    corners = [(x - 0.42, y - 0.28), (x + 0.42, y - 0.28), (x + 0.28, y + 0.3), (x - 0.28, y + 0.3)]
    axes.add_patch(Polygon(corners, facecolor=color, linewidth=0))
    axes.text(x, y, f"$w_{rank}$", ha="center", va="center", color=ink_on(COLORS[rank]), fontsize=20)


def _write():
    figure, axes = _ranks()
    arrow(axes, (1.6, ROWS[0]), (3.0, ROWS[0]), COLORS[0])
    box(axes, (4.3, ROWS[0]), "checkpoint\nlog, progress", (2.4, 0.95), "0.3")
    for y in ROWS[1:]:
        axes.plot([1.6, 2.3], [y, y], color=GREY, linewidth=2.5)
        axes.plot([2.3, 2.3], [y - 0.2, y + 0.2], color=GREY, linewidth=4)
        axes.text(2.65, y, "trains, writes nothing", va="center", fontsize=16)
    return figure


def words():
    """Return what each picture shows, as text."""
    return [
        "After init, each of four processes knows its rank, 0 to 3, and that there are four; they can communicate.",
        "Two nodes with two GPUs each: ranks 0 and 1, and ranks 2 and 3, take the GPU of their local rank, 0 or 1.",
        "Twelve samples are dealt out like cards: rank 0 gets 0, 4, 8; rank 1 gets 1, 5, 9; and so on.",
        "Four ranks, with a batch each, take one step of four batches, with four times the learning rate.",
        "Each rank's gradient has its own direction; after the allreduce, all four have the same mean.",
        "Before, each rank has its own weights; rank 0 sends its weights to all, and afterwards all have the same.",
        "Only rank 0 writes checkpoints, logs and progress; the other three train and write nothing.",
    ]
