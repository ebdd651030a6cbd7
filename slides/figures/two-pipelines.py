"""The path of a batch in training and in validation, with what is left out."""

from coursekit.pictures import COLORS, GREY
from workshop.slides.drawing import arrow, box, diagram

DATA = ()
CAPTION = "The path of a batch on one rank. White boxes: changed for validation; dashed: left out."
STAGES = (
    ("shard", "shard"),
    ("shuffle,\nrepeat", None),
    ("random crop,\nmirror", "centre\ncrop"),
    ("batch, only\nfull ones", "batch,\nthe last too"),
    ("training\nmode", "inference\nmode"),
    ("tape,\nupdate", None),
)
SIZE = (1.62, 1.0)


def draw():
    """Draw both rows, one stage below the other."""
    figure, axes = diagram()
    for row, (name, color, y) in enumerate((("training", COLORS[0], 3.2), ("validation", COLORS[5], 1.2))):
        axes.text(0.14, y + 0.8, name, fontsize=22, fontweight="bold", color=color, va="center")
        for number, stage in enumerate(STAGES):
            x = 0.95 + number * 1.94
            if stage[row] is None:
                axes.add_patch(_empty(x, y))
                axes.text(x, y, "none", ha="center", va="center", color="0.35", fontsize=17)
                continue
            box(axes, (x, y), stage[row], size=SIZE, color=color, filled=stage[row] == stage[0], fontsize=17)
            after = [later for later in range(number + 1, len(STAGES)) if STAGES[later][row]]
            if after:
                end = 0.95 + after[0] * 1.94 - SIZE[0] / 2
                arrow(axes, (x + SIZE[0] / 2, y), (end, y), zorder=0, shrinkA=0, shrinkB=0)
    last = 0.95 + 4 * 1.94
    arrow(axes, (last, 0.7), (last, 0.42), color=GREY, mutation_scale=16)
    axes.text(last, 0.22, "sums: losses, right answers, images", ha="center", va="center", fontsize=18)
    return figure


def _empty(x, y):
    from matplotlib.patches import FancyBboxPatch  # for this one box

    corner = (x - SIZE[0] / 2, y - SIZE[1] / 2)
    style = "round,pad=0,rounding_size=0.08"
    return FancyBboxPatch(
        corner, *SIZE, boxstyle=style, facecolor="white", edgecolor="0.6", linestyle="--", linewidth=2
    )


def words():
    """Return both rows as text."""
    rows = [", then ".join((stage[row] or "nothing").replace("\n", " ") for stage in STAGES) for row in (0, 1)]
    return f"Training: {rows[0]}. Validation: {rows[1]}; the results are sums of loss, right answers and images."
