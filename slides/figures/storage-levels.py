"""Where training data can be: from the memory of a node to the archive of the centre."""

from matplotlib.patches import Polygon

from coursekit.pictures import COLORS
from workshop.slides.drawing import diagram

DATA = ()
CAPTION = "Lower levels are larger, and more people share them."
LEVELS = (
    ("memory", "cache()", "one process, for its life", COLORS[1]),
    ("RAM disk: /dev/shm", "cache(file)", "one node, for the job", COLORS[4]),
    ("node-local NVMe", "cache(file)", "one node, for the job", COLORS[2]),
    ("scratch: Lustre and others", "TFRecord files", "all nodes, for weeks", COLORS[0]),
    ("data sets of the centre, archive", "source", "all projects, for years", "0.35"),
)
TOP, HEIGHT, WIDEST = 4.1, 0.82, 5.3


def draw():
    """Draw a pyramid, and beside each level what belongs there and how long it lasts."""
    figure, axes = diagram()
    narrow = 2.5
    for number, (name, what, life, color) in enumerate(LEVELS):
        high, low = TOP - number * HEIGHT, TOP - (number + 1) * HEIGHT + 0.08
        half = [narrow / 2 + (WIDEST - narrow) / 2 * step / len(LEVELS) for step in (number, number + 0.92)]
        corners = [(2.7 - half[0], high), (2.7 + half[0], high), (2.7 + half[1], low), (2.7 - half[1], low)]
        axes.add_patch(Polygon(corners, facecolor=color))
        middle = (high + low) / 2
        axes.text(2.7, middle, name, ha="center", va="center", color="white", fontsize=16, weight="bold")
        axes.text(5.65, middle, what, va="center", color=color, family="monospace", fontsize=16)
        axes.text(8.35, middle, life, va="center", fontsize=16)
    axes.text(5.65, 4.35, "what goes there", fontsize=16, weight="bold")
    axes.text(8.35, 4.35, "for whom, how long", fontsize=16, weight="bold")
    return figure


def words():
    """Return the text alternative."""
    return "; ".join(f"{name}: {what}, {life}" for name, what, life, _ in LEVELS) + "."
