"""Four ways to allreduce, as schedules: which rank sends which chunk to which rank, step by step.

The lecture draws its pictures and counts its table of costs from these schedules; tests execute them.
In a step, every rank sends at most one message and receives at most one, like a network card with one port.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from coursekit.pictures.output import COLORS
from workshop.slides.drawing import FULL_INCH, Point, arrow, diagram, ink_on

CELL_INCH = 0.3
TOP_INCH = 3.95
LANE_INCH = 1.1
LEFT_INCH = 1.75
WIDEST_GAP_INCH = 3.4
PALE, DARK = "0.75", "0.25"


State = tuple[tuple[frozenset[int], ...], ...]


@dataclass(frozen=True)
class Message:
    """One chunk that rank `source` sends to rank `target`, which adds it to its own chunk or overwrites its own."""

    source: int
    target: int
    chunk: int = 0
    adds: bool = True


@dataclass(frozen=True)
class Schedule:
    """All messages of one allreduce; the messages of a step travel at the same time."""

    num_ranks: int
    num_chunks: int
    steps: tuple[tuple[Message, ...], ...]


@dataclass(frozen=True)
class Cost:
    """The cost of a schedule."""

    steps: int  # how often all ranks wait for a message
    path: Fraction  # sum of the largest message of each step, in units of the whole array
    busiest: Fraction  # data that the busiest rank sends, in the same units
    average: Fraction  # data that a rank sends on average

    def seconds(self, num_bytes: float, alpha_s: float, beta_s: float) -> float:
        """Return the time that the latency-bandwidth model predicts for an array: steps x alpha + bytes x beta."""
        return self.steps * alpha_s + float(self.path) * num_bytes * beta_s


def star(num_ranks: int) -> Schedule:
    """All others send to rank 0, one after another; it then sends the sum back to each."""
    others = range(1, num_ranks)
    gather = [(Message(rank, 0),) for rank in others]
    back = [(Message(0, rank, adds=False),) for rank in others]
    return Schedule(num_ranks, 1, (*gather, *back))


def tree(num_ranks: int) -> Schedule:
    """Sum pairs, then pairs of pairs, until rank 0 has the sum, which goes back down the same way."""
    up = []
    distance = 1
    while distance < num_ranks:
        up.append(tuple(Message(rank, rank - distance) for rank in range(distance, num_ranks, 2 * distance)))
        distance *= 2
    down = [tuple(Message(one.target, one.source, adds=False) for one in step) for step in reversed(up)]
    return Schedule(num_ranks, 1, (*up, *down))


def butterfly(num_ranks: int) -> Schedule:
    """Partners at distance 1, 2, 4, … swap what they have, and both add (recursive doubling).

    Raises:
        ValueError: the number of ranks is not a power of two.
    """
    if num_ranks & (num_ranks - 1):
        raise ValueError(f"the number of ranks in a butterfly must be a power of two, not {num_ranks}")
    distances = [2**level for level in range(num_ranks.bit_length() - 1)]
    steps = [tuple(Message(rank, rank ^ distance) for rank in range(num_ranks)) for distance in distances]
    return Schedule(num_ranks, 1, tuple(steps))


def ring(num_ranks: int) -> Schedule:
    """Every rank sends one chunk to its neighbour: first to be added (reduce-scatter), then copied (allgather)."""
    steps = [
        tuple(
            Message(rank, (rank + 1) % num_ranks, (rank + shift - step) % num_ranks, adds) for rank in range(num_ranks)
        )
        for shift, adds in ((0, True), (1, False))
        for step in range(num_ranks - 1)
    ]
    return Schedule(num_ranks, num_ranks, tuple(steps))


WAYS: dict[str, Callable[[int], Schedule]] = {"star": star, "tree": tree, "butterfly": butterfly, "ring": ring}


def states(schedule: Schedule) -> list[State]:
    """Return whose data each rank's chunks contain: at the start, then after each step.

    Raises:
        ValueError: a rank's data would be added twice.
    """
    now = [[frozenset({rank})] * schedule.num_chunks for rank in range(schedule.num_ranks)]
    history = [tuple(map(tuple, now))]
    for step in schedule.steps:
        before = history[-1]
        for one in step:
            sent, own = before[one.source][one.chunk], before[one.target][one.chunk]
            if one.adds and sent & own:
                raise ValueError(f"{one} adds {sorted(sent & own)} twice")
            now[one.target][one.chunk] = sent | own if one.adds else sent
        history.append(tuple(map(tuple, now)))
    return history


def count(schedule: Schedule) -> Cost:
    """Return the cost of a schedule, whose chunks all have the same size."""
    chunk = Fraction(1, schedule.num_chunks)
    sent = [0] * schedule.num_ranks
    for step in schedule.steps:
        for one in step:
            sent[one.source] += 1
    return Cost(
        steps=len(schedule.steps),
        path=chunk * len(schedule.steps),
        busiest=chunk * max(sent),
        average=chunk * Fraction(sum(sent), schedule.num_ranks),
    )


def tile(axes: Axes, center: Point, ranks: Collection[int], num_ranks: int, cell_inch: float = CELL_INCH) -> None:
    """Draw a square of cells, one per rank; a cell is coloured and numbered if the rank's data is in the sum."""
    columns = 2 if num_ranks > 2 else 1  # noqa: PLR2004  # a square of four, or two cells above each other
    rows = -(-num_ranks // columns)
    for rank in range(num_ranks):
        x = center[0] + (rank % columns - columns / 2) * cell_inch
        y = center[1] + (rows / 2 - 1 - rank // columns) * cell_inch
        cell(axes, (x, y), (cell_inch, cell_inch), rank, has=rank in ranks)


def cell(axes: Axes, corner: Point, size: Point, rank: int, *, has: bool) -> None:
    """Draw the cell of one rank: its colour and number if its data is in the sum, else an empty frame."""
    face = COLORS[rank] if has else "white"
    axes.add_patch(Rectangle(corner, *size, facecolor=face, edgecolor=PALE, linewidth=1))
    if has:
        middle = (corner[0] + size[0] / 2, corner[1] + size[1] / 2 - 0.01)
        axes.text(*middle, str(rank), color=ink_on(COLORS[rank]), ha="center", va="center", fontsize=16, weight="bold")


def draw_lanes(schedule: Schedule) -> Figure:
    """Draw a one-chunk schedule, with time to the right; a solid arrow is a message that adds, a dashed one copies."""
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
    """Return a schedule as text: which rank sends to which rank in each step."""
    steps = []
    for number, messages in enumerate(schedule.steps, 1):
        sent = ", ".join(f"{one.source} to {one.target}" for one in messages)
        steps.append(f"Step {number}: rank {sent}; the receiver {'adds' if messages[0].adds else 'copies'}.")
    return f"{schedule.num_ranks} ranks, {len(steps)} steps. {' '.join(steps)} At the end, every rank has the total."
