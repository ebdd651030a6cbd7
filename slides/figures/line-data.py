"""The samples of lab 01: a cloud along a rising line."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, canvas

DATA = ("results/sgd-trajectories",)
CAPTION = "The data of lab 01, generated from a seed."


def draw(data):
    """Draw the points."""
    figure, (axes,) = canvas(HALF_INCH)
    axes.plot(data["x"], data["y"], "o", color=COLORS[0], markersize=4, alpha=0.45, markeredgewidth=0)
    axes.set(xlabel="x", ylabel="y", xlim=(-0.54, 0.54), ylim=(-1.65, 1.65))
    axes.set_xticks([-0.5, 0, 0.5])
    axes.set_yticks([-1, 0, 1])
    return figure


def words(data):
    """Return what the cloud looks like, as text."""
    return (
        f"A cloud of {data['num_samples']} points, x from -0.5 to 0.5. It rises from about y = -1 to y = 1 "
        f"and is about one unit thick everywhere; the best line through it has slope {data['best'][0]:.2f}."
    )
