"""Batch sizes with which others trained without loss of accuracy, and the methods that they needed."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, canvas

DATA = ("published/large-batches",)
CAPTION = "The largest batch without loss of accuracy, in the abstracts of Goyal et al., You et al. 2017 and 2020."


def draw(published):
    """Draw a bar for each work."""
    figure, (axes,) = canvas(HALF_INCH)
    rows = list(published.rows)
    for number, row in enumerate(rows):
        axes.barh(number, row["batch"], color=COLORS[0], height=0.45)
        axes.text(
            300, number - 0.42, f"{row['work']}, {row['network'].split()[0]}: {row['how']}", fontsize=16, va="center"
        )
        axes.text(row["batch"] * 1.1, number, f"{row['batch']:,}".replace(",", " "), va="center", fontsize=17)
    axes.set(xscale="log", xlim=(256, 400_000), xlabel="samples in a batch", ylim=(len(rows) - 0.5, -0.75))
    axes.set_xticks([256, 1024, 4096, 16384, 65536], ["256", "1 k", "4 k", "16 k", "64 k"])
    axes.minorticks_off()
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    return figure


def words(published):
    """Return the works, methods and batches as text."""
    parts = [f"{row['work']}, {row['network']}: {row['batch']} with {row['how']}" for row in published.rows]
    return f"{'; '.join(parts)}."
