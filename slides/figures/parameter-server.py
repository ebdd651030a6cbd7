"""A parameter server and its workers: fetch weights, compute, push gradients; all traffic goes through the server."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, arrow, box, diagram

DATA = ()
CAPTION = "One server, three workers: weights come down, gradients go up."
COLUMNS = (0.95, 2.85, 4.75)


def draw():
    """Draw server, workers, and what passes between them."""
    figure, axes = diagram(HALF_INCH)
    box(axes, (2.85, 3.85), "parameter server\nholds the weights", (3.2, 1.0), COLORS[7])
    for worker, x in enumerate(COLUMNS):
        box(axes, (x, 0.92), f"worker {worker}", (1.6, 0.8), COLORS[worker])
        top = 2.85 + (x - 2.85) * 0.62
        arrow(axes, (top - 0.14, 3.33), (x - 0.14, 1.34), "0.45", linestyle=(0, (2, 1.5)))
        arrow(axes, (x + 0.14, 1.34), (top + 0.14, 3.33), COLORS[worker])
    axes.text(0.02, 2.55, "1 fetch\nweights", color="0.3", fontsize=16, va="center")
    axes.text(5.68, 2.55, "3 push\ngradients", color=COLORS[2], fontsize=16, va="center", ha="right")
    axes.text(2.85, 0.18, "2 compute, each on its own samples", fontsize=16, ha="center", va="center")
    return figure


def words():
    """Return who sends what, as text."""
    return (
        "A parameter server above three workers. A dashed arrow leads from the server to each worker: weights are "
        "fetched. A solid one leads back: gradients are pushed. All six arrows end or begin at the server."
    )
