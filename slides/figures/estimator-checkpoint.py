"""Continuing from a checkpoint that only rank 0 has, and the one case in which that hangs."""

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, box, diagram

DATA = ()
CAPTION = "Two ranks; the number is the global step: the steps taken so far."
NUM_STATES = 4
PLACES = (2.25, 0.75)  # of the two ranks, in inches
DARK = "0.25"  # for collectives, whose usual orange is rank 1's colour here


def draw():
    """Draw one picture for each state."""
    return [_draw(state) for state in range(1, NUM_STATES + 1)]


def _draw(state):
    figure, axes = diagram()
    done = 500 if state == 4 else 300
    axes.text(0.1, 3.75, "model_dir", fontsize=18, va="center")
    axes.add_patch(Rectangle((1.65, 3.3), 2.5, 0.9, facecolor="0.93", edgecolor="0.5"))
    axes.text(2.9, 3.75, f"checkpoint\nof step {done}", ha="center", va="center", fontsize=17)
    says = {
        1: ("weights loaded\nstep 300", "random weights\nstep 0"),
        2: ("weights loaded\nstep 300", "weights of rank 0\nstep 300"),
        3: ("same weights\nstep 301", "same weights\nstep 301"),
        4: ("weights loaded\nstep 500", "random weights\nstep 0"),
    }[state]
    for rank, y in enumerate(PLACES):
        axes.text(0.1, y, f"rank {rank}", color=COLORS[rank], fontsize=20, fontweight="bold", va="center")
        box(axes, (2.9, y), says[rank], size=(2.5, 1.1), color=COLORS[rank], fontsize=18)
        [_restart, _broadcast, _go_on, _ended][state - 1](axes, rank, y)
    if state != 3:
        arrow(axes, (2.9, 3.28), (2.9, 2.8))
    return figure


def _restart(axes, rank, y):
    text = "finds the checkpoint in its folder" if rank == 0 else "has no checkpoint: it begins at step 0"
    axes.text(4.6, y, text, va="center", fontsize=20)


def _broadcast(axes, rank, y):
    box(axes, (6.2, y), "hook: broadcast", size=(2.5, 0.9), color=DARK)
    if rank == 0:
        arrow(axes, (4.2, y), (4.9, y))
        arrow(axes, (6.2, y - 0.47), (6.2, PLACES[1] + 0.47), DARK, linewidth=5, mutation_scale=30)
        axes.text(7.8, sum(PLACES) / 2, "weights, momenta\nand global step", va="center", fontsize=20)
    else:
        arrow(axes, (4.9, y), (4.2, y))


def _go_on(axes, rank, y):
    arrow(axes, (4.2, y), (4.8, y))
    for number, step in enumerate(("302", "…", "500")):
        box(axes, (5.5 + 1.35 * number, y), step, size=(1.2, 0.9), color=COLORS[rank])
    if rank == 0:
        axes.text(9.1, sum(PLACES) / 2, "max_steps=500:\nall stop together", va="center", fontsize=20)


def _ended(axes, rank, y):
    if rank == 0:
        axes.text(4.6, y, "no steps left:\ntrain() returns", va="center", fontsize=20)
        first = "so first: hvd.broadcast_object(steps done)"
        box(axes, (8.0, 3.75), first, size=(6.6, 0.9), color=DARK, fontsize=19)
    else:
        box(axes, (5.85, y), "hook: broadcast", size=(2.5, 0.9), color=DARK)
        axes.text(7.3, y, "waits for ever", va="center", fontsize=20, fontweight="bold")


def words():
    """Return what each picture shows, as text."""
    ended = (
        "If step 500 is already done, rank 0 returns without a broadcast, and rank 1 waits for it. "
        "So rank 0 first tells all ranks how many steps are done."
    )
    return [
        "After a restart, rank 0 loads step 300's checkpoint from its folder; rank 1 has none and random weights.",
        "The hook broadcasts rank 0's weights, momenta and global step: both are at step 300.",
        "Both continue with step 301, and with max_steps both stop at step 500.",
        ended,
    ]
