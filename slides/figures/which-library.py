"""A short way from what you have to what to use."""

from __future__ import annotations

from coursekit.pictures import COLORS, GREY
from workshop.slides.drawing import arrow, box, diagram

DATA = ()
CAPTION = "Our advice in 2026."
QUESTION, ANSWER = COLORS[7], COLORS[0]


def draw():
    """Draw the questions in a row, an answer below each."""
    figure, axes = diagram((11.6, 4.5))
    x, top, bottom = (1.4, 4.5, 7.6), 3.5, 1.15
    questions = (
        "is there TensorFlow\ncode that works?",
        "does the network\nfit on one GPU?",
        "do you want\nto use Keras?",
    )
    answers = ("stay: Horovod,\nKeras 2, pinned", "FSDP, ZeRO,\nor JAX sharding", "PyTorch DDP")
    labels = ("yes", "no", "no")
    for place, question, answer, label, color in zip(x, questions, answers, labels, (COLORS[1], COLORS[5], COLORS[0])):
        box(axes, (place, top), question, (2.5, 1.15), QUESTION, filled=False)
        box(axes, (place, bottom), answer, (2.5, 1.15), color)
        arrow(axes, (place, top - 0.58), (place, bottom + 0.58))
        axes.text(place + 0.12, (top + bottom) / 2, label, va="center")
    for left, right, label in zip(x, x[1:], ("no", "yes")):
        arrow(axes, (left + 1.25, top), (right - 1.25, top))
        axes.text((left + right) / 2, top + 0.15, label, ha="center")
    corner = (10.25, top)
    axes.plot([x[2] + 1.25, corner[0]], [top, top], color=GREY, linewidth=2.5)
    arrow(axes, corner, (corner[0], bottom + 0.58), shrinkA=0)
    axes.text(corner[0] - 0.65, top + 0.15, "yes", ha="center")
    box(axes, (corner[0], bottom), "tf.distribute, or\nKeras 3 on JAX", (2.5, 1.15), COLORS[2])
    return figure


def words():
    """Return the ways as text."""
    return (
        "Is there TensorFlow code that works? Stay with Horovod, with Keras 2 and pinned versions. If not, does the "
        "network fit on one GPU? No: FSDP, ZeRO or sharding in JAX. Yes: do you want to use Keras? Then tf.distribute, "
        "or Keras 3 on JAX; otherwise PyTorch DDP."
    )
