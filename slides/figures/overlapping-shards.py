"""How often the ranks together read a sample in an epoch, if they shard before shuffling or after it."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ("results/pipeline",)
CAPTION = "Each process shuffled with its own random numbers, as processes do unless all get the same seed."
ORDERS = ("shard, shuffle", "shuffle, shard")


def draw(results):
    """Draw how many samples are read how often, for both orders."""
    figure, panels = canvas(num_panels=2)
    shards = results["shards"]
    for axes, order, color, hatch in zip(panels, ORDERS, (COLORS[2], COLORS[1]), ("", "//")):
        counts = shards[order]
        bars = axes.bar(range(len(counts)), counts, color=color, hatch=hatch, edgecolor="white")
        axes.bar_label(bars, fontsize=18, padding=3)
        axes.set(title=f"first {order.replace(', ', ', then ')}", ylim=(0, shards["elements"] * 1.12))
        axes.set(xlabel="times read in one epoch", xticks=range(len(counts)))
        axes.grid(visible=False)
    panels[0].set_ylabel(f"of {shards['elements']} samples")
    return figure


def words(results):
    """Return the text alternative."""
    shards = results["shards"]
    parts = [
        f"first {order.replace(', ', ', then ')}: "
        + ", ".join(f"{count} samples {number} times" for number, count in enumerate(shards[order]))
        for order in ORDERS
    ]
    return f"{shards['elements']} samples on {shards['ranks']} ranks, read in one epoch. {'; '.join(parts)}."
