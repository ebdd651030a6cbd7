"""Pictures of an allreduce's schedule: a lane for each rank, and at every step whose data it holds so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.patches import Rectangle

from coursekit.lecture.slides.allreduce import states
from coursekit.lecture.slides.drawing import FULL_INCH, arrow, diagram, ink_on
from coursekit.pictures import COLORS

if TYPE_CHECKING:
    from collections.abc import Collection

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from coursekit.lecture.slides.allreduce import Message, Schedule

    Point = tuple[float, float]

CELL_INCH = 0.3
TOP_INCH = 3.95
LANE_INCH = 1.1
LEFT_INCH = 1.75
WIDEST_GAP_INCH = 3.4
PALE, DARK = "0.75", "0.25"


def tile(axes: Axes, center: Point, ranks: Collection[int], num_ranks: int, cell_inch: float = CELL_INCH) -> None:
    """Draw a square of cells, one for each rank: coloured, with its number, where its data is in the sum."""
    columns = 2 if num_ranks > 2 else 1  # noqa: PLR2004  # a square of four, or two cells above each other
    rows = -(-num_ranks // columns)
    for rank in range(num_ranks):
        x = center[0] + (rank % columns - columns / 2) * cell_inch
        y = center[1] + (rows / 2 - 1 - rank // columns) * cell_inch
        cell(axes, (x, y), (cell_inch, cell_inch), rank, has=rank in ranks)


def cell(axes: Axes, corner: Point, size: Point, rank: int, *, has: bool) -> None:
    """Draw the place of one rank's data in a sum: its colour and number when it is there, else an empty frame."""
    face = COLORS[rank] if has else "white"
    axes.add_patch(Rectangle(corner, *size, facecolor=face, edgecolor=PALE, linewidth=1))
    if has:
        middle = (corner[0] + size[0] / 2, corner[1] + size[1] / 2 - 0.01)
        axes.text(*middle, str(rank), color=ink_on(COLORS[rank]), ha="center", va="center", fontsize=16, weight="bold")


def draw_lanes(schedule: Schedule) -> Figure:
    """Draw a schedule of one chunk: time goes to the right, an arrow is a message that adds, a dashed one copies."""
    figure, axes = diagram(FULL_INCH)
    history = states(schedule)
    gap = min((FULL_INCH[0] - LEFT_INCH - 0.6) / len(schedule.steps), WIDEST_GAP_INCH)
    left = (FULL_INCH[0] + LEFT_INCH - 0.6 - gap * len(schedule.steps)) / 2
    for rank in range(schedule.num_ranks):
        y = _lane(rank)
        axes.text(left - 0.55, y, f"rank {rank}", ha="right", va="center", weight="bold")
        axes.plot([left, left + gap * len(schedule.steps)], [y, y], color="0.88", linewidth=2, zorder=0)
        for step, state in enumerate(history):
            tile(axes, (left + gap * step, y), state[rank][0], schedule.num_ranks)
    for step, messages in enumerate(schedule.steps):
        axes.text(left + gap * (step + 0.5), 4.42, f"step {step + 1}", ha="center", va="center", color=DARK)
        for one in messages:
            _draw_message(axes, one, left + gap * step, gap)
    return figure


def _lane(rank: int) -> float:
    return TOP_INCH - LANE_INCH * rank


def _draw_message(axes: Axes, message: Message, x: float, gap: float) -> None:
    start = (x + CELL_INCH + 0.02, _lane(message.source))
    end = (x + gap - CELL_INCH - 0.02, _lane(message.target))
    style = "-" if message.adds else (0, (3, 2))
    arrow(axes, start, end, COLORS[message.source], linestyle=style, shrinkA=0, shrinkB=0)


def words_of(schedule: Schedule) -> str:
    """Tell a schedule as text: who sends to whom in which step."""
    steps = []
    for number, messages in enumerate(schedule.steps, 1):
        sent = ", ".join(f"{one.source} to {one.target}" for one in messages)
        steps.append(f"Step {number}: rank {sent}, which {'adds' if messages[0].adds else 'copies'}.")
    return (
        f"{schedule.num_ranks} ranks, {len(steps)} steps. {' '.join(steps)} In the end every rank has the sum of all."
    )
