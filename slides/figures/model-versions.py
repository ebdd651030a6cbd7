"""Which version of the weights each rank computes with at one moment: the same, within a bound, or any."""

from coursekit.pictures import COLORS, MARKERS
from workshop.slides.drawing import FULL_INCH, arrow, diagram

DATA = ()
CAPTION = "A moment in three runs on four ranks: with which version of the weights does each rank compute?"
ROWS = (("synchronous", (8, 8, 8, 8)), ("stale-synchronous", (8, 9, 7, 9)), ("asynchronous", (11, 8, 3, 9)))
BOUND = 2
HEIGHTS = (3.1, 1.85, 0.75)
LEFT, UNIT = 3.1, 0.66


def place(version):
    """Return the place of a version on the axis."""
    return LEFT + UNIT * version


def draw():
    """Draw an axis of versions for each way, and the ranks on it."""
    figure, axes = diagram(FULL_INCH)
    for (name, versions), y in zip(ROWS, HEIGHTS):
        axes.text(0.05, y, name, va="center", fontsize=20, weight="bold")
        arrow(axes, (LEFT, y), (place(12.5), y), "0.7", linewidth=2)
        for version in range(1, 13):
            axes.plot(2 * [place(version)], [y - 0.07, y + 0.07], color="0.7", linewidth=2)
        if name == "stale-synchronous":
            low, high = place(min(versions)) - 0.3, place(max(versions)) + 0.3
            axes.fill_between([low, high], y - 0.15, y + 0.8, color=COLORS[7], alpha=0.08)
            axes.text((low + high) / 2, y - 0.4, f"bound: {BOUND} steps", ha="center", va="center", fontsize=16)
        stacked = {}
        for rank, version in enumerate(versions):
            level = stacked[version] = stacked.get(version, -1) + 1
            x, height = place(version), y + 0.24 + 0.3 * level  # above the axis, which would cross out the numbers
            axes.plot(x, height, MARKERS[rank], color=COLORS[rank], markersize=15, markeredgecolor="white", zorder=4)
            axes.text(x + 0.2, height + 0.02, str(rank), color=COLORS[rank], va="center", fontsize=16, weight="bold")
    axes.text(place(12.5), 0.3, "version of the weights →", ha="right", va="center")
    return figure


def words():
    """Return the versions of all ranks as text."""
    described = (
        f"{name}: ranks 0 to 3 compute with versions {', '.join(map(str, versions))}" for name, versions in ROWS
    )
    return f"{'; '.join(described)}. In the second case, no rank is more than {BOUND} steps ahead of another."
