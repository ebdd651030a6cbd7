"""Updates, epochs and seconds to reach a loss, by batch size: what a larger batch saves, and what it does not."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ("results/batch-size",)
CAPTION = "A small network on synthetic images; best of eight learning rates for each batch size, three starts."
PANELS = (("updates", "updates needed", COLORS[0], "o-"), ("epochs", "epochs needed", COLORS[1], "s--"))
SECONDS = ("seconds", "seconds on {} cores", COLORS[2], "D:")


def draw(data):
    """Draw three panels over one axis of batch sizes."""
    figure, panels = canvas((11.6, 4.3), num_panels=3)
    sizes = [size["batch_size"] for size in data["sizes"]]
    for axes, (key, title, color, style) in zip(panels, (*PANELS, SECONDS)):
        values = [size[key] for size in data["sizes"]]
        axes.plot(sizes, values, style, color=color, markersize=10, linewidth=3)
        axes.set_title(title.format(data["num_cores"]))
        axes.set(xscale="log", yscale="log", xlabel="batch size", xticks=[1, 16, 256], xlim=(0.7, 1500))
        axes.set_xticklabels(["1", "16", "256"])
        axes.minorticks_off()
        ticks = [tick for tick in (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000) if in_range(tick, values)]
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ideal = [data["sizes"][0]["updates"] / size for size in sizes]
    panels[0].plot(sizes, ideal, color="0.5", linewidth=1.5, linestyle=(0, (2, 3)))
    panels[0].set_ylim(min(size["updates"] for size in data["sizes"]) / 2, None)
    panels[0].text(0.85, 95, "half for twice\nthe batch", color="0.3", fontsize=16, va="top", ha="left")
    return figure


def in_range(tick, values):
    """Return whether a tick is near the values."""
    return min(values) / 2 <= tick <= max(values) * 1.6


def words(data):
    """Return all numbers as text."""
    described = (
        f"{size['batch_size']}: {size['updates']:g} updates, {size['epochs']:.3g} epochs, {size['seconds']:.2g} s"
        for size in data["sizes"]
    )
    return f"Three curves: the cost of reaching a loss of {data['target']}. By batch size: {'; '.join(described)}."
