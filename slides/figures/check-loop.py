"""How you work in a lab: write, check, read what is missing, see your run."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, arrow, box, diagram

DATA = ()
CAPTION = "You can run a check as often as you like."
WRITE, CHECK, LOOK = (1.3, 3.5), (4.3, 3.5), (4.3, 1.0)
SIZE = (1.9, 1.1)


def draw():
    """Draw the loop of writing and checking, and the way out of it."""
    figure, axes = diagram(HALF_INCH)
    box(axes, WRITE, "write the\npiece", SIZE, COLORS[0])
    box(axes, CHECK, "check on\nreal ranks", SIZE, COLORS[1])
    box(axes, LOOK, "see your\nown run", SIZE, COLORS[2])
    arrow(axes, (2.25, 3.7), (3.35, 3.7))
    arrow(axes, (3.9, 2.9), (1.7, 2.9), bend=-0.45)
    axes.text(2.0, 1.85, "what is missing,\nand where to read", ha="center", va="center", fontsize=17)
    arrow(axes, (4.5, 2.95), (4.5, 1.6))
    axes.text(4.65, 2.28, "passed", va="center", fontsize=17)
    return figure


def words():
    """Return the loop as text."""
    return (
        "Write the piece; a check runs it on real ranks and says what is missing and where to read; "
        "once it has passed, you see your own run."
    )
