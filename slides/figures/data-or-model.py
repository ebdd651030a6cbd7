"""Data parallelism and model parallelism: what each rank holds, and what the ranks send to each other."""

from coursekit.pictures import COLORS, GREY
from workshop.slides.drawing import arrow, box, diagram

DATA = ()
CAPTION = "Left: a copy of the whole model on each rank. Right: a part of the model on each rank."
NUM_LAYERS = 4
LAYER, STEP = (1.5, 0.42), 0.56


def draw():
    """Draw both ways side by side."""
    figure, axes = diagram()
    axes.plot([5.8, 5.8], [0.1, 4.5], color="0.85", linewidth=2)
    draw_data_parallel(axes)
    draw_model_parallel(axes)
    return figure


def draw_data_parallel(axes):
    """Draw two ranks with all layers, and the gradients between them."""
    axes.text(2.8, 4.3, "data parallelism", ha="center", va="center", weight="bold", fontsize=20)
    for rank, x in enumerate((1.15, 4.45)):
        for layer in range(NUM_LAYERS):
            box(axes, (x, 1.55 + STEP * layer), f"layer {layer + 1}", LAYER, COLORS[rank], fontsize=16)
        box(axes, (x, 0.62), f"shard {rank}", LAYER, COLORS[rank], filled=False, fontsize=16)
        arrow(axes, (x, 0.85), (x, 1.34))
        axes.text(x, 3.72, f"rank {rank}", ha="center", va="center", color=COLORS[rank])
    y = 1.55 + STEP * (NUM_LAYERS - 1) / 2
    arrow(axes, (1.95, y), (3.65, y), "black", arrowstyle="<|-|>")
    axes.text(2.8, y + 0.3, "gradients", ha="center", va="center")
    axes.text(2.8, y - 0.35, "once a step", ha="center", va="center", fontsize=16, color="0.3")


def draw_model_parallel(axes):
    """Draw two ranks with half of the layers each, and the activations between them."""
    axes.text(8.8, 4.3, "model parallelism", ha="center", va="center", weight="bold", fontsize=20)
    for rank, x in enumerate((7.15, 10.45)):
        for layer in range(NUM_LAYERS):
            mine = layer // (NUM_LAYERS // 2) == rank
            if mine:
                box(axes, (x, 1.55 + STEP * layer), f"layer {layer + 1}", LAYER, COLORS[rank], fontsize=16)
            else:
                axes.plot([x - 0.5, x + 0.5], 2 * [1.55 + STEP * layer], color="0.85", linewidth=2, linestyle=":")
        axes.text(x, 3.72, f"rank {rank}", ha="center", va="center", color=COLORS[rank])
    box(axes, (7.15, 0.62), "whole batch", LAYER, GREY, filled=False, fontsize=16)
    arrow(axes, (7.15, 0.85), (7.15, 1.34))
    arrow(axes, (7.95, 2.2), (9.65, 2.75), "black")
    arrow(axes, (9.65, 2.45), (7.95, 1.9), "black", linestyle=(0, (2, 1.5)))
    axes.text(8.65, 3.0, "activations", ha="center", va="center")
    axes.text(8.98, 1.22, "their gradients,", ha="center", va="center", fontsize=16, color="0.3")
    axes.text(8.98, 0.92, "backwards", ha="center", va="center", fontsize=16, color="0.3")


def words():
    """Return which rank holds what, as text."""
    return (
        "Left, data parallelism: ranks 0 and 1 each hold all four layers and read their own shard of the data; "
        "gradients pass between them once a step. Right, model parallelism: rank 0 holds layers 1 and 2 and reads the "
        "whole batch, rank 1 holds layers 3 and 4; activations pass forward from rank 0 to rank 1, and their "
        "gradients come back."
    )
