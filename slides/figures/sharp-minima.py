"""Losses along the straight line through two minima, and along the steepest direction through each of three."""

from coursekit.pictures import COLORS, LINE_STYLES
from workshop.slides.drawing import canvas

DATA = ("results/sharp-minima",)
CAPTION = "A small network, trained to one loss from one start; only batch and learning rate differ."


def draw(data):
    """Draw the line on the left, the valleys on the right."""
    figure, (left, right) = canvas(num_panels=2)
    ways = data["ways"]
    left.plot(data["shares"], data["test_losses"], color=COLORS[7], linestyle="--")
    left.plot(data["shares"], data["losses"], color=COLORS[3], linewidth=3.5)
    for share, way, number in ((0, "small", 0), (1, "large", 1)):
        left.axvline(share, color=COLORS[number], linewidth=2, linestyle=":", ymax=0.9)
        left.text(share, 7, f"batch {ways[way]['batch_size']}", color=COLORS[number], ha="center")
    left.set(yscale="log", ylim=(0.01, 11), xlim=(-1, 2), xlabel="along the line through both", ylabel="loss")
    left.set_yticks([0.01, 0.1, 1, 10], ["0.01", "0.1", "1", "10"])
    left.set_xticks([-1, 0, 1, 2])
    left.text(-0.95, 2.6, "test")
    left.text(-0.95, 0.15, "training", color=COLORS[3])
    for number, (way, one) in enumerate(ways.items()):
        look = {"color": COLORS[number], "linestyle": LINE_STYLES[number], "linewidth": 3.5}
        right.plot(data["distances"], data["valleys"][way], **look)
        named = f"batch {one['batch_size']},\nrate {one['rate']:g}"
        right.text(0.42, data["valleys"][way][-1], named, color=COLORS[number], va="center", fontsize=16)
    right.set(xlabel="along the steepest direction", ylim=(0, None), xlim=(-0.4, 0.4))
    right.set_xticks([-0.3, 0, 0.3])
    right.set_ylabel("training loss")
    return figure


def words(data):
    """Return the losses and the curvatures as text."""
    described = (
        f"batch {one['batch_size']} at rate {one['rate']:g}: {one['runs'][0]['sharpness']:.2g}"
        for one in data["ways"].values()
    )
    return (
        "Left, losses along the line through the minima of the small and the large batch: the training loss stays "
        f"between {min(data['losses']):.2g} and {max(data['losses']):.2g}, the test loss between "
        f"{min(data['test_losses']):.2g} and {max(data['test_losses']):.2g}. Right, valleys along the steepest "
        f"direction; curvature by run: {'; '.join(described)}."
    )
