"""The ring of four ranks, step by step: whose data each chunk of each rank holds, and which chunks are sent."""

from __future__ import annotations

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.allreduce import DARK, cell, ring, states
from workshop.slides.drawing import FULL_INCH, arrow, diagram

DATA = ()
CAPTION = "The numbers in a chunk say whose data is in its sum; framed chunks have just arrived."
NUM_RANKS = 4
CELL = (0.4, 0.5)
WIDTH = CELL[0] * NUM_RANKS
LEFT, SPACING = 1.5, 2.6
TOP, ROW = 3.35, 0.88
SCHEDULE = ring(NUM_RANKS)
HISTORY = states(SCHEDULE)


def draw():
    """Draw the start and every step; the arrows of a step lead to the chunks that it has changed."""
    return [_draw(step) for step in range(len(HISTORY))]


def _draw(step):
    figure, axes = diagram(FULL_INCH)
    messages = SCHEDULE.steps[step - 1] if step else ()
    arrived = {(one.target, one.chunk) for one in messages}
    for rank in range(NUM_RANKS):
        x = LEFT + SPACING * rank
        axes.text(x + WIDTH / 2, 4.25, f"rank {rank}", ha="center", va="center", weight="bold")
        for chunk in range(NUM_RANKS):
            y = TOP - ROW * chunk
            for other in range(NUM_RANKS):
                has = other in HISTORY[step][rank][chunk]
                cell(axes, (x + CELL[0] * other, y - CELL[1] / 2), CELL, other, has=has)
            if (rank, chunk) in arrived:
                corner = (x - 0.06, y - CELL[1] / 2 - 0.06)
                axes.add_patch(
                    Rectangle(corner, WIDTH + 0.12, CELL[1] + 0.12, facecolor="none", edgecolor=DARK, linewidth=3)
                )
    for chunk in range(NUM_RANKS):
        axes.text(0.05, TOP - ROW * chunk, f"chunk {chunk}", va="center", fontsize=16)
    for one in messages:
        _draw_message(axes, one)
    return figure


def _draw_message(axes, one):
    """Draw an arrow to the neighbour; the one that closes the ring leaves on the right and comes in on the left."""
    y = TOP - ROW * one.chunk
    style = {"linestyle": "-" if one.adds else (0, (2, 1.5)), "shrinkA": 0, "shrinkB": 0}
    start = LEFT + SPACING * one.source + WIDTH + 0.08
    if one.target > one.source:
        arrow(axes, (start, y), (start + SPACING - WIDTH - 0.18, y), COLORS[one.source], **style)
    else:
        arrow(axes, (start, y), (start + 0.42, y), COLORS[one.source], **style)
        arrow(axes, (LEFT - 0.52, y), (LEFT - 0.08, y), COLORS[one.source], **style)


def words():
    """Return, for the start and every step, which messages were sent and how many chunks are complete, as text."""
    texts = ["Four ranks, four chunks each; at the start, every chunk holds only its own rank's data."]
    for number, messages in enumerate(SCHEDULE.steps, 1):
        sent = ", ".join(f"rank {one.source} sends chunk {one.chunk} to rank {one.target}" for one in messages)
        done = sum(len(chunk) == NUM_RANKS for chunks in HISTORY[number] for chunk in chunks)
        how = "added" if messages[0].adds else "copied"
        texts.append(f"Step {number}: {sent}; they are {how} there. {done} of 16 chunks hold the sum of all ranks.")
    return texts
