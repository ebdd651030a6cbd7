"""Extract, transform, load: where each part of a pipeline runs, and which functions of tf.data do it."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import COMPUTE, INPUT, arrow, box, diagram

DATA = ()
CAPTION = "The three parts work at the same time, each on a different batch."


def draw():
    """Draw storage, processor and accelerator, and what runs on each."""
    figure, axes = diagram()
    columns = [
        (1.95, "Extract", "storage", "0.35", ["files", "shard", "interleave"]),
        (5.8, "Transform", "CPU cores", INPUT, ["map: decode", "cache, shuffle", "map: augment", "batch, prefetch"]),
        (9.65, "Load", "GPU", COMPUTE, ["training step"]),
    ]
    for x, name, place, color, functions in columns:
        box(axes, (x, 4.0), name, (3.0, 0.75), color, fontsize=22, weight="bold")
        axes.text(x, 3.3, place, ha="center", va="center", color=color, weight="bold")
        for number, function in enumerate(functions):
            box(axes, (x, 2.7 - 0.62 * number), function, (2.7, 0.5), color, filled=False, fontsize=16)
    for x in (3.5, 7.35):
        arrow(axes, (x, 4.0), (x + 0.75, 4.0))
    for x, batch in ((1.95, "batch 3"), (5.8, "batch 2"), (9.65, "batch 1")):
        axes.text(x, 0.18, batch, ha="center", fontsize=16, color=COLORS[4])
    return figure


def words():
    """Return the text alternative."""
    return (
        "Extract, from storage: files, shard, interleave. Transform, on the CPU cores: map to decode, cache and "
        "shuffle, map to augment, batch and prefetch. Load, to the GPU: the training step. While the GPU trains on "
        "batch 1, the cores prepare batch 2 and the storage delivers batch 3."
    )
