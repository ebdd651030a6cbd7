"""Gradients at one place, each from a different batch: a cloud around the gradient of all samples."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ("results/sgd-trajectories",)
CAPTION = "Start of lab 01, 40 gradients per panel. Error: typical distance from the orange one, over its length."


def draw(data):
    """Draw a panel of arrows for each batch size."""
    figure, panels = canvas((11.6, 4.3), num_panels=len(data["noise"]))
    for number, (axes, noise) in enumerate(zip(panels, data["noise"])):
        for along_slope, along_offset in noise["gradients"]:
            axes.plot([0, along_slope], [0, along_offset], color=COLORS[0], linewidth=1, alpha=0.4)
            axes.plot(along_slope, along_offset, "o", color=COLORS[0], markersize=5, alpha=0.7, markeredgewidth=0)
        full = data["first_gradient"]
        axes.annotate("", full, (0, 0), arrowprops={"arrowstyle": "-|>", "color": COLORS[1], "linewidth": 4}, zorder=5)
        samples = "sample" if noise["batch_size"] == 1 else "samples"
        axes.set_title(f"{noise['batch_size']} {samples}: error {100 * noise['error']:.0f} %")
        axes.set(xlim=(-1.9, 1.6), ylim=(-0.9, 4), xlabel="along the slope", xticks=[-1, 0, 1], yticks=[0, 1, 2, 3])
        if number:
            axes.set_yticklabels([])
    panels[0].set_ylabel("along the offset")
    panels[-1].text(0.1, 1.75, "batches", color=COLORS[0], va="center")
    panels[-1].text(0.1, 0.9, "all samples", color=COLORS[1], va="center", weight="bold")
    return figure


def words(data):
    """Return how wide the clouds are, as text."""
    described = (f"with batches of {noise['batch_size']} it is {100 * noise['error']:.0f} %" for noise in data["noise"])
    return (
        "Three panels of arrows from one point, with the gradient of all samples as a thick arrow in each. "
        f"The typical distance from it, as a share of its length: {', '.join(described)}."
    )
