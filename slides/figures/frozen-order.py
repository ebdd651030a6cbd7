"""The order of samples in two epochs, cached before shuffling and cached after."""

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import diagram

DATA = ("results/pipeline",)
CAPTION = "Sixteen samples; those at the same place in both epochs have a thick frame."
SIDE = 0.52
ROWS = (
    ("right", "cache, then shuffle", (3.7, 2.95), COLORS[2]),
    ("wrong", "shuffle, then cache", (1.4, 0.65), COLORS[1]),
)


def num_same(epochs):
    """Return how many samples are at the same place in both epochs."""
    return sum(one == other for one, other in zip(*epochs))


def draw(results):
    """Draw both epochs of both orders."""
    figure, axes = diagram()
    for name, title, places, color in ROWS:
        epochs = results["frozen_order"][name]
        axes.text(0.1, places[0] + 0.55, title, color=color, weight="bold")
        for number, (y, samples) in enumerate(zip(places, epochs), 1):
            axes.text(0.1, y, f"epoch {number}", va="center")
            for place, sample in enumerate(samples):
                same = epochs[0][place] == epochs[1][place]
                corner = (1.6 + place * (SIDE + 0.1), y - SIDE / 2)
                line = {"edgecolor": color, "linewidth": 4 if same else 1}
                face = "white" if same else "0.9"
                axes.add_patch(Rectangle(corner, SIDE, SIDE, facecolor=face, **line))
                axes.text(corner[0] + SIDE / 2, y, sample, ha="center", va="center", fontsize=16)
        axes.text(11.5, places[0] + 0.55, f"{num_same(epochs)} of 16 at the same place", ha="right", color=color)
    return figure


def words(results):
    """Return the text alternative."""
    parts = []
    for name, title, _, _ in ROWS:
        one, other = results["frozen_order"][name]
        parts.append(f"{title}: epoch 1 {one}, epoch 2 {other}, {num_same((one, other))} of 16 at the same place")
    return f"{'. '.join(parts)}."
