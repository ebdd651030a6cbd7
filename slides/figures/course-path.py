"""What the labs build, in the order of the course."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, box, diagram

DATA = ()
CAPTION = "Seven labs; each takes up a question that the previous one left open."
PARTS = (
    ("the idea, on a line", COLORS[0], (("01", "one\nprocess"), ("02", "two ranks,\none model"))),
    ("real networks", COLORS[1], (("03", "CNNs\nwith Keras"), ("04", "CNNs, the\nEstimator"))),
    ("does it pay?", COLORS[2], (("05", "is input\nready?"), ("06", "what\ntravels?"), ("07", "does it\nscale?"))),
)
STEP, LEFT, SIZE = 1.62, 0.95, (1.42, 1.5)


def draw():
    """Draw a box for each lab, in three groups."""
    figure, axes = diagram()
    number = 0
    for title, color, labs in PARTS:
        first = LEFT + STEP * number
        for name, what in labs:
            x = LEFT + STEP * number
            box(axes, (x, 2.2), what, SIZE, color, fontsize=18)
            axes.text(x, 1.2, name, ha="center", va="center", fontsize=20, weight="bold", color=color)
            if number:
                arrow(
                    axes, (x - STEP + SIZE[0] / 2, 2.2), (x - SIZE[0] / 2, 2.2), shrinkA=0, shrinkB=0, mutation_scale=14
                )
            number += 1
        last = LEFT + STEP * (number - 1)
        axes.plot([first - 0.7, last + 0.7], [3.25, 3.25], color=color, linewidth=5, solid_capstyle="butt")
        axes.text((first + last) / 2, 3.62, title, ha="center", va="center", fontsize=22, weight="bold", color=color)
    return figure


def words():
    """Return the labs by group as text."""
    described = (f"{title}: {', '.join(f'lab {n}, {what}' for n, what in labs)}" for title, _, labs in PARTS)
    return f"{'; '.join(described)}.".replace("\n", " ")
