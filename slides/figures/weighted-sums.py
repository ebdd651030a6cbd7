"""From batches to one number, step by step: weighted sums on each rank, one allreduce, one division."""

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, box, diagram

DATA = ()
CAPTION = "A square is an image, filled if the answer is right; two ranks with unequal shards."
BATCHES = (((4, 4), (3, 4), (2, 2)), ((1, 2),))  # (right, images) of each batch, by rank
SUMS = [(sum(right for right, _ in rank), sum(count for _, count in rank)) for rank in BATCHES]
TOTAL = (sum(right for right, _ in SUMS), sum(count for _, count in SUMS))
HEADS = ("1. batches", "2. sums", "3. allreduce", "4. division")
PLACES = (2.9, 5.95, 8.2, 10.4)
SQUARE = 0.27


def draw():
    """Draw one more column in each step."""
    return [_draw(step) for step in range(1, len(HEADS) + 1)]


def _draw(shown):
    figure, axes = diagram()
    for number, (head, x) in enumerate(zip(HEADS, PLACES)):
        color = "black" if number < shown else "0.75"
        axes.text(x, 4.2, head, ha="center", va="center", fontweight="bold", fontsize=20, color=color)
    for rank, batches in enumerate(BATCHES):
        y, color = 2.95 - rank * 1.75, COLORS[rank]
        axes.text(0.1, y, f"rank {rank}", va="center", fontsize=20, fontweight="bold", color=color)
        end = _draw_batches(axes, batches, y, color)
        if shown > 1:
            arrow(axes, (end, y), (PLACES[1] - 0.85, y))
            text = f"right {SUMS[rank][0]}\nimages {SUMS[rank][1]}"
            box(axes, (PLACES[1], y), text, size=(1.65, 1.0), color=color, filled=False)
        if shown > 2:
            arrow(axes, (PLACES[1] + 0.85, y), (PLACES[2] - 0.9, 2.08 + 0.3 * (1 - 2 * rank)))
        if shown > 3:
            axes.text(PLACES[3], y, f"on rank {rank}", ha="center", va="center", fontsize=18, color=color)
    if shown > 2:
        box(axes, (PLACES[2], 2.08), f"right {TOTAL[0]}\nimages {TOTAL[1]}", size=(1.75, 1.1), color="0.25")
    if shown > 3:
        arrow(axes, (PLACES[2] + 0.9, 2.08), (PLACES[3] - 0.75, 2.08))
        share = f"{TOTAL[0]} / {TOTAL[1]}\n= {100 * TOTAL[0] / TOTAL[1]:.0f} %"
        axes.text(PLACES[3], 2.08, share, ha="center", va="center", fontsize=24, fontweight="bold")
    return figure


def _draw_batches(axes, batches, y, color):
    """Draw a square for each image, filled if the answer is right, and a frame for each batch; return the end."""
    x = 1.25
    for right, count in batches:
        frame = Rectangle((x - 0.06, y - 0.3), count * SQUARE + 0.09, 0.6, facecolor="none", edgecolor="0.6")
        axes.add_patch(frame)
        for number in range(count):
            face = color if number < right else "white"
            corner = (x + number * SQUARE, y - 0.12)
            axes.add_patch(Rectangle(corner, 0.23, 0.24, facecolor=face, edgecolor=color, linewidth=2))
        axes.text(x + count * SQUARE / 2, y - 0.5, f"{right} of {count}", ha="center", va="center", fontsize=16)
        x += count * SQUARE + 0.22
    return x - 0.05


def words():
    """Return what each step adds, as text."""
    batches = "; ".join(
        f"rank {rank}: " + ", ".join(f"{right} of {count}" for right, count in one) for rank, one in enumerate(BATCHES)
    )
    sums = "; ".join(f"rank {rank}: {right} right of {count}" for rank, (right, count) in enumerate(SUMS))
    whole = f"Summed over the ranks: {TOTAL[0]} right of {TOTAL[1]}."
    return [
        f"Right answers of each batch. {batches}.",
        f"Sums on each rank. {sums}.",
        whole,
        f"{whole} Every rank divides: {100 * TOTAL[0] / TOTAL[1]:.0f} percent.",
    ]
