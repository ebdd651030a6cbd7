"""ImageNet as TFRecord files: the files, the records in a file, the parts of a record, and who reads which file."""

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, diagram

DATA = ()
CAPTION = "The length and both checksums take 16 bytes in all; a checksum reveals damage."
PARTS = (("length", 1.35, "0.45"), ("CRC", 0.95, "0.7"), ("JPEG, label, size …", 4.6, COLORS[2]), ("CRC", 0.95, "0.7"))
NUM_FILES, NUM_RANKS = 16, 4


def draw():
    """Draw three levels from top to bottom."""
    figure, axes = diagram()
    axes.text(0.1, 3.95, "files", va="center", weight="bold")
    for number in range(NUM_FILES):
        rank = number % NUM_RANKS
        x = 1.6 + 0.55 * number
        axes.add_patch(Rectangle((x, 3.5), 0.45, 0.9, facecolor=COLORS[rank], edgecolor="white"))
        axes.text(
            x + 0.225, 3.95, rank, ha="center", va="center", color="white" if rank < 3 else "black", weight="bold"
        )
    axes.text(10.5, 3.95, "… 1024", va="center")
    axes.text(2.0, 3.1, "the number on a file: the rank that reads it", fontsize=16)
    axes.text(0.1, 2.2, "one file", va="center", weight="bold", color=COLORS[0])
    for number in range(9):
        place = (1.6 + 0.95 * number, 1.85)
        axes.add_patch(Rectangle(place, 0.87, 0.7, facecolor="white", edgecolor=COLORS[0], linewidth=2.5))
        axes.text(place[0] + 0.435, 2.2, number + 1, ha="center", va="center", fontsize=16)
    axes.text(10.3, 2.2, "… 1251", va="center")
    arrow(axes, (1.75, 3.5), (1.75, 2.6), COLORS[0])
    axes.text(0.1, 0.6, "a record", va="center", weight="bold", color=COLORS[2])
    x = 1.6
    for name, width, color in PARTS:
        axes.add_patch(Rectangle((x, 0.25), width - 0.06, 0.7, facecolor=color, edgecolor="white"))
        dark = color == "0.7"
        axes.text(x + width / 2, 0.6, name, ha="center", va="center", color="black" if dark else "white")
        x += width
    axes.plot([2.55, 1.6], [1.85, 0.98], color=COLORS[2], linewidth=1.5)
    axes.plot([3.42, x - 0.06], [1.85, 0.98], color=COLORS[2], linewidth=1.5)
    axes.text(9.7, 0.6, "one image", va="center")
    return figure


def words():
    """Return the text alternative."""
    return (
        "ImageNet's training images are in 1024 files, which the ranks, here four, take in turns. A file holds "
        "a row of records, 1251 on average. A record is its length, a checksum of the length, the data (JPEG, label, "
        "size), and a checksum of the data."
    )
