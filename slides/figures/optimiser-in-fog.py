"""What an optimiser knows: the slope at its place, and nothing about the rest of the landscape."""

import numpy as np
from matplotlib.patches import Circle

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, arrow, diagram

DATA = ()
CAPTION = "The landscape is there, but the optimiser sees only a small disc of it."
HERE, VIEW = np.array([1.55, 3.1]), 0.85
CENTER, AXES = np.array([3.6, 1.7]), np.array([2.7, 1.25])  # of the ellipses of equal loss, in inches


def draw():
    """Draw ellipses, pale except inside the disc, and the way downhill."""
    figure, axes = diagram(HALF_INCH)
    angles = np.linspace(0, 2 * np.pi, 400)
    seen = Circle(HERE, VIEW, facecolor="white", edgecolor="0.5", linewidth=2, zorder=2)
    axes.add_patch(seen)
    for size in np.linspace(0.15, 2.2, 14):
        x, y = (CENTER + size * AXES * np.array([np.cos(angles), np.sin(angles)]).T).T
        axes.plot(x, y, color="0.91", linewidth=2, zorder=1)
        (line,) = axes.plot(x, y, color="0.45", linewidth=2.2, zorder=3)
        line.set_clip_path(seen)
    downhill = (CENTER - HERE) / AXES**2
    downhill /= np.hypot(*downhill)
    arrow(axes, tuple(HERE), tuple(HERE + 1.3 * downhill), COLORS[1], zorder=5, linewidth=4, mutation_scale=28)
    axes.plot(*HERE, "o", color=COLORS[0], markersize=15, zorder=6)
    axes.plot(*CENTER, "X", color="0.8", markersize=14, markeredgewidth=0)
    axes.text(HERE[0] - 0.1, 4.15, "I am here", color=COLORS[0], ha="center")
    axes.text(HERE[0] + 0.95, 2.0, "downhill", color=COLORS[1], rotation=0)
    axes.text(4.35, 3.3, "not seen", color="0.35", ha="center")
    return figure


def words():
    """Return what is seen and what is not, as text."""
    return (
        "A landscape of ellipses, nearly all of it pale because it is not seen. In a disc around the optimiser's "
        "place, the lines are clear, and an arrow points downhill, at right angles to them. "
        "The lowest point is outside the disc."
    )
