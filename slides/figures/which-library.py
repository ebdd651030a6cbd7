"""A short way from what you have to what to take."""

from __future__ import annotations

from coursekit.pictures import COLORS
from coursekit.slides.drawing import arrow, box, diagram

DATA = ()
CAPTION = "Our advice in 2026."
QUESTION, ANSWER = COLORS[7], COLORS[0]


def draw():
    """Draw the questions in a row, an answer below each."""
    figure, axes = diagram((11.6, 4.5))
    x, top, bottom = (1.6, 5.1, 8.6), 3.5, 1.15
    questions = ("does the code\nexist already?", "does it fit\non one GPU?", "is it Keras?")
    answers = ("stay: Horovod,\nTF ≤ 2.15, pinned", "FSDP, ZeRO,\nor JAX sharding", "PyTorch DDP")
    labels = ("yes, in TensorFlow", "no", "no")
    for place, question, answer, label, color in zip(x, questions, answers, labels, (COLORS[1], COLORS[3], COLORS[0])):
        box(axes, (place, top), question, (2.6, 1.15), QUESTION, filled=False)
        box(axes, (place, bottom), answer, (2.6, 1.15), color)
        arrow(axes, (place, top - 0.58), (place, bottom + 0.58))
        axes.text(place + 0.12, (top + bottom) / 2, label, va="center")
    for left, right, label in zip(x, x[1:], ("no", "yes")):
        arrow(axes, (left + 1.3, top), (right - 1.3, top))
        axes.text((left + right) / 2, top + 0.15, label, ha="center")
    arrow(axes, (x[2] + 1.3, top), (x[2] + 1.95, top), shrinkB=0, arrowstyle="-")
    arrow(axes, (x[2] + 1.95, top), (x[2] + 1.95, 2.75))
    axes.text(x[2] + 1.6, top + 0.15, "yes", ha="center")
    box(axes, (x[2] + 1.75, 2.3), "tf.distribute\nor Keras 3\non JAX", (2.3, 1.05), COLORS[2])
    return figure


def words():
    """Say the ways."""
    return (
        "Does the code exist already, in TensorFlow? Stay with Horovod and a pinned TensorFlow up to 2.15. If not: does "
        "the model fit on one GPU? No: FSDP, ZeRO or sharding in JAX. Yes: is it Keras? Then tf.distribute, or Keras 3 "
        "on JAX; otherwise PyTorch DDP."
    )
