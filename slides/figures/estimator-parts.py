"""What goes into an Estimator, and what it makes of it: a graph and a session for each call."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, box, diagram

DATA = ()
CAPTION = "Four parts go in; each call makes a new graph and session."
PARTS = (
    ("input_fn", "batches of\nfeatures, labels"),
    ("model_fn", "loss, step, metrics\nfor a mode"),
    ("RunConfig", "GPU, folder,\ncheckpoints"),
    ("hooks", "before and after\neach step"),
)
CALLS = (
    ("train", "graph + session,\nmany steps"),
    ("evaluate", "graph + session,\nfrom a checkpoint"),
    ("predict", "graph + session"),
)


def draw():
    """Draw the parts on the left, the Estimator, and its calls on the right."""
    figure, axes = diagram()
    axes.text(0.15, 4.3, "you write", color=COLORS[0], weight="bold", va="center")
    axes.text(7.65, 4.3, "TensorFlow makes", color=COLORS[2], weight="bold", va="center")
    for number, (name, says) in enumerate(PARTS):
        y = 3.65 - number * 1.07
        box(axes, (1.1, y), name, size=(1.9, 0.75), color=COLORS[0], fontsize=19)
        axes.text(2.2, y, says, va="center", fontsize=16)
        arrow(axes, (4.45, y), (5.05, 2.05 + 0.36 * (y - 2.05)))
    box(axes, (6.0, 2.05), "Estimator", size=(1.9, 2.2), color="black", filled=False, fontsize=21)
    for number, (name, says) in enumerate(CALLS):
        y = 3.5 - number * 1.4
        arrow(axes, (6.97, 2.05 + 0.36 * (y - 2.05)), (7.65, y))
        box(axes, (8.4, y), name, size=(1.5, 0.8), color=COLORS[2], fontsize=19)
        axes.text(9.3, y, says, va="center", fontsize=16)
    return figure


def words():
    """Return the parts and the calls as text."""
    parts = "; ".join(f"{name}: {says.replace(chr(10), ' ')}" for name, says in PARTS)
    calls = "; ".join(f"{name}: {says.replace(chr(10), ' ')}" for name, says in CALLS)
    return f"An Estimator takes {parts}. Each call makes a new graph and session. {calls}."
