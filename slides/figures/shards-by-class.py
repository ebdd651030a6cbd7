"""Shards that are alike, and shards by class: what each rank's batches look like."""

from __future__ import annotations

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import FULL_INCH, box, diagram, ink_on

DATA = ()
CAPTION = "24 samples of four classes, sorted by class as in many data sets; the letters are the classes."
CLASSES = "ABCD"
PER_CLASS = 6
SORTED = [index // PER_CLASS for index in range(4 * PER_CLASS)]


def draw():
    """Draw contiguous blocks on the left, every fourth sample on the right."""
    figure, axes = diagram(FULL_INCH)
    blocks = [SORTED[PER_CLASS * rank : PER_CLASS * (rank + 1)] for rank in range(4)]
    dealt = [SORTED[rank::4] for rank in range(4)]
    for left, title, shards in ((0.1, "in blocks: one class each", blocks), (6.1, "dealt out: shards alike", dealt)):
        axes.text(left + 2.6, 4.25, title, ha="center", va="center", weight="bold")
        for rank, shard in enumerate(shards):
            y = 3.4 - 0.95 * rank
            box(axes, (left + 0.7, y), f"rank {rank}", (1.35, 0.6), "0.35", filled=False)
            for place, kind in enumerate(shard):
                x = left + 1.6 + 0.6 * place
                axes.add_patch(Rectangle((x, y - 0.3), 0.55, 0.6, facecolor=COLORS[kind], linewidth=0))
                axes.text(x + 0.27, y - 0.01, CLASSES[kind], ha="center", va="center", color=ink_on(COLORS[kind]))
    return figure


def words():
    """Return both ways to shard as text."""
    return (
        "If 24 samples are sorted by four classes, blocks give each rank only one class; if they are dealt out, every "
        "rank has one or two samples of every class."
    )
