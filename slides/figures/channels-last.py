"""What the numbers of a shape mean: a batch of images, and a batch of image series, with channels last."""

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS, GREY
from workshop.slides.drawing import diagram

DATA = ()
CAPTION = "Each sheet is an image; each colour on its rim is a channel."


def sheet(axes, corner, width, height, colors):
    """Draw one image: a sheet for each channel, the first in front."""
    for number, color in reversed(list(enumerate(colors))):
        shift = 0.09 * number
        place = (corner[0] + shift, corner[1] + shift)
        axes.add_patch(Rectangle(place, width, height, facecolor="white", edgecolor=color, linewidth=2.5))


def shape(axes, x, y, parts):
    """Write a shape, and below each number what it counts."""
    for number, (size, what, color) in enumerate(parts):
        at = x + 1.18 * number
        axes.text(at, y, size, ha="center", fontsize=26, weight="bold", color=color)
        axes.text(at, y - 0.42, what, ha="center", fontsize=16, color=color)


def draw():
    """Draw both batches side by side."""
    figure, axes = diagram()
    rgb = (COLORS[1], COLORS[2], COLORS[0])
    for number in reversed(range(4)):
        sheet(axes, (0.7 + 0.55 * number, 1.65 + 0.22 * number), 1.5, 1.5, rgb)
    axes.text(1.45, 2.4, "image 0", ha="center", va="center", fontsize=16)
    axes.text(4.35, 3.5, "… 9", ha="left", va="center", fontsize=18, color="0.35")
    parts = [("10", "batch", "black"), ("256", "height", "0.3"), ("256", "width", "0.3"), ("3", "channels", COLORS[1])]
    shape(axes, 0.9, 0.75, parts)
    axes.text(2.65, 4.3, "Images in colour", ha="center", fontsize=18, weight="bold")
    axes.plot([5.35, 5.35], [0.2, 4.5], color=GREY, linewidth=1)
    for row in range(3):
        for step in range(5):
            sheet(axes, (5.85 + 0.92 * step, 3.15 - 0.78 * row), 0.34, 0.62, ("0.2",))
        axes.text(10.45, 3.45 - 0.78 * row, f"series {row}", va="center", fontsize=16)
    axes.annotate("", (10.3, 3.95), (5.75, 3.95), arrowprops={"arrowstyle": "-|>", "color": GREY, "linewidth": 2})
    axes.text(8.1, 4.3, "Series of grey images: time →", ha="center", fontsize=18, weight="bold")
    grey = [("64", "height", "0.3"), ("32", "width", "0.3"), ("1", "channel", COLORS[1])]
    shape(axes, 6.1, 0.75, [("10", "batch", "black"), ("25", "time step", COLORS[0]), *grey])
    return figure


def words():
    """Return the text alternative."""
    return (
        "Left: ten images of three channels have the shape 10, 256, 256, 3: batch, height, width, channels. "
        "Right: ten series of 25 grey images have the shape 10, 25, 64, 32, 1: batch, time step, height, width, 1."
    )
