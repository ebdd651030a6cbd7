"""The loss after a hundred updates by learning rate, and the limit that follows from the Hessian."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, canvas

DATA = ("results/sgd-trajectories",)
CAPTION = "Lab 01's line, 100 updates on all samples with each rate; the limit is computed, not fitted."


def draw(data):
    """Draw the losses and the limit."""
    figure, (axes,) = canvas(HALF_INCH)
    rates, losses = zip(*data["rates"])
    axes.axvline(data["limit"], color=COLORS[1], linestyle="--", linewidth=3)
    axes.axvspan(data["limit"], 1.2, color=COLORS[1], alpha=0.1)
    axes.plot(rates, losses, "o-", color=COLORS[0], markersize=6)
    says = r"$2/\lambda_{\max}$" + f"\n= {data['limit']:.2f}"
    axes.text(data["limit"] - 0.03, 300, says, color=COLORS[1], ha="right", va="center")
    axes.set(yscale="log", xlabel="learning rate η", ylabel="loss at the end", xlim=(0, 1.12), ylim=(0.03, 1e9))
    axes.set_yticks([0.1, 1e3, 1e6, 1e9], ["0.1", "10³", "10⁶", "10⁹"])
    axes.set_yticks([], minor=True)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    return figure


def words(data):
    """Return the limit, and the losses below and above it, as text."""
    stable = max(loss for rate, loss in data["rates"] if rate < data["limit"] - 0.03)
    return (
        f"Up to a rate of {data['limit']:.2f} the loss ends at {stable:.2g} or below; beyond that it grows steeply, "
        f"to {data['rates'][-1][1]:.1e} at a rate of {data['rates'][-1][0]:g}."
    )
