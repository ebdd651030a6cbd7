"""A model function is called once and builds a graph; a session runs this graph many times, with hooks around."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import COLLECTIVE, arrow, box, diagram

DATA = ()
CAPTION = "One call of train() over time. Blue: you write it; green: TensorFlow makes it; dark: all ranks meet."
NUM_STEPS = 3
YOURS, ITS = COLORS[0], COLORS[2]  # as in estimator-parts


def draw():
    """Draw building, the hook's broadcast, and steps with hooks around them."""
    figure, axes = diagram()
    for x, text, width in ((1.3, "build once", 2.4), (4.15, "start", 2.0), (8.5, "run, step after step", 6.0)):
        axes.text(x, 4.25, text, ha="center", va="center", fontweight="bold", fontsize=20)
        axes.plot([x - width / 2, x + width / 2], [3.95, 3.95], color="0.6", linewidth=2)
    box(axes, (1.3, 3.2), "input_fn()\nmodel_fn(…)", size=(2.2, 1.0), color=YOURS)
    arrow(axes, (1.3, 2.68), (1.3, 2.1))
    box(axes, (1.3, 1.5), "graph", size=(2.2, 1.1), color=ITS, fontsize=22)
    arrow(axes, (2.45, 1.5), (3.1, 1.5))
    box(axes, (4.15, 1.5), "session\nwith its GPU", size=(1.95, 1.1), color=ITS)
    box(axes, (4.15, 3.2), "hook:\nbroadcast", size=(1.95, 1.0), color=COLLECTIVE)
    arrow(axes, (4.15, 2.08), (4.15, 2.66))
    for number in range(NUM_STEPS):
        x = 6.35 + number * 2.1
        arrow(axes, (x - (1.2 if number == 0 else 1.38), 1.5), (x - 0.74, 1.5), mutation_scale=18)
        box(axes, (x, 1.5), f"step {number + 1}", size=(1.45, 1.1), color=ITS)
        box(axes, (x, 3.2), "hooks", size=(1.45, 1.0), color=YOURS)
        arrow(axes, (x - 0.4, 2.68), (x - 0.4, 2.08), mutation_scale=16)
        arrow(axes, (x + 0.4, 2.08), (x + 0.4, 2.68), mutation_scale=16)
    axes.text(8.4, 0.45, "the Python of input_fn and model_fn does not run here", ha="center", fontsize=17)
    return figure


def words():
    """Return what happens when, as text."""
    return (
        "One call of train. First, the input function and the model function are called once and build a graph. Then a "
        "session starts, with its own GPU, and a hook broadcasts the variables. Then the session runs the graph step "
        "after step, with hooks before and after each; the Python of both functions does not run in a step."
    )
