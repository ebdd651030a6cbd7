"""Dates of the releases that this course uses, and of those around them."""

from coursekit.pictures import COLORS, GREY
from workshop.slides.drawing import arrow, diagram

DATA = ("published/releases",)
CAPTION = "Filled: used in this course. From the releases of TensorFlow and Horovod."
FIRST, LAST = 2018.4, 2026.95
OURS = ("2.21", "0.28.1")
PLACES = {"TensorFlow": 2.3, "Horovod": 0.85}  # above the lower edge


def x_of(year):
    """Return the place of a year."""
    return 1.9 + (year - FIRST) / (LAST - FIRST) * 9.3


def draw(releases):
    """Draw two timelines."""
    figure, axes = diagram((11.6, 3.0))
    for product, y in PLACES.items():
        axes.text(0.1, y, product, va="center", weight="bold")
        arrow(axes, (1.8, y), (11.5, y))
    for row in releases.rows:
        x, y = x_of(row["year"]), PLACES[row["product"]]
        filled = row["text"].endswith(OURS)
        color = COLORS[0] if filled else "0.35"
        axes.plot(x, y, "o", markersize=16, markerfacecolor=color if filled else "white", markeredgecolor=color)
        style = {"ha": row["side"], "color": color, "weight": "bold" if filled else "normal"}
        axes.text(x + (0.12 if row["side"] == "right" else -0.12), y + row["shift_inch"], row["text"], **style)
    for year in range(2019, 2027):
        axes.text(x_of(year), 0.1, str(year), ha="center", fontsize=16, color="0.35")
        axes.plot([x_of(year)] * 2, [0.38, 0.52], color=GREY, linewidth=1.5)
    return figure


def words(releases):
    """Return the text alternative."""
    parts = [f"{row['product']} {row['text']}, {int(row['year'])}" for row in releases.rows]
    return f"Two timelines: {'; '.join(parts)}. The course uses TensorFlow 2.21 and Horovod 0.28.1."
