"""Lab 03's example: accuracies of a large and a tiny shard, as areas, and two ways to average them."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, canvas

DATA = ()
CAPTION = "Width: images of a rank. Height: its accuracy. Area: right answers."
RIGHT, COUNT = (90, 1), (100, 2)


def draw():
    """Draw a bar for each rank, as wide as its shard, and the two means."""
    figure, (axes,) = canvas(HALF_INCH)
    first = 0
    for rank, (right, count) in enumerate(zip(RIGHT, COUNT)):
        axes.bar(first, 100 * right / count, width=count, align="edge", color=COLORS[rank], alpha=0.85)
        first += count
    plain, true = means()
    axes.axhline(plain, color="black", linestyle=":")
    axes.axhline(true, color="black")
    axes.text(3, plain - 2, f"mean of both: {plain:.0f} %", va="top", color="white", fontsize=19)
    axes.text(3, true + 3, f"all images: {true:.0f} %", fontsize=19)
    axes.text(50, 25, f"rank 0: {RIGHT[0]} of {COUNT[0]}", ha="center", color="white", fontsize=18)
    axes.text(104, 51, f"rank 1:\n{RIGHT[1]} of {COUNT[1]}", color=COLORS[1], fontsize=18, va="top")
    axes.set(xlim=(0, 128), ylim=(0, 108), xlabel="images", ylabel="accuracy, %", xticks=[0, 50, 100])
    axes.grid(visible=False)
    return figure


def means():
    """Return the plain and the weighted mean, in percent."""
    plain = sum(right / count for right, count in zip(RIGHT, COUNT)) / len(COUNT)
    return 100 * plain, 100 * sum(RIGHT) / sum(COUNT)


def words():
    """Return both means as text."""
    plain, true = means()
    return (
        f"Rank 0: {RIGHT[0]} of {COUNT[0]} right, rank 1: {RIGHT[1]} of {COUNT[1]}. The mean of their accuracies is "
        f"{plain:.0f} percent; the accuracy over all images is {true:.0f} percent."
    )
