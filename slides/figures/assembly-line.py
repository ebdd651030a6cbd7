"""A pipeline as an assembly line: what each station does to the elements that pass through it."""

from matplotlib.patches import Circle, Polygon, Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import COMPUTE, INPUT, WAIT, arrow, box, diagram

DATA = ()
CAPTION = "Four files of four records; a letter is a file, a number a record in it."
STATIONS = ("files", "shard", "interleave", "decode", "cache", "shuffle", "augment", "batch", "prefetch")
GREYS = {"A": "0.35", "B": "0.72", "C": "0.55", "D": "0.86"}  # of the files
MINE = ("A1", "C1", "A2", "C2", "A3", "C3", "A4", "C4")  # the records of rank 0, interleaved
SHUFFLED = ("A2", "A1", "C3", "C1", "A4", "C2", "A3", "C4")  # with a buffer of four
SHUFFLED_2 = ("C2", "A3", "A1", "C3", "C4", "C1", "A4", "A2")  # the same buffer, in epoch 2
SIDE = 0.62
TOP, LOW = 2.75, 0.85


def start(number):
    """Return a canvas with the assembly line, on which this station is highlighted."""
    figure, axes = diagram()
    axes.plot([0.1, 11.5], [4.15, 4.15], color=WAIT, linewidth=6, zorder=0)
    for other, name in enumerate(STATIONS):
        here = other == number
        size, color = (1.22, 0.52), COLORS[0] if here else "0.6"
        box(axes, (0.72 + 1.27 * other, 4.15), name, size, color, filled=here, fontsize=16)
    return figure, axes


def tile(axes, x, y, name, **options):
    """Draw a record, in the grey of its file."""
    face = options.pop("face", GREYS[name[0]])
    axes.add_patch(Rectangle((x, y - SIDE / 2), SIDE, SIDE, facecolor=face, edgecolor="white", **options))
    color = "white" if name[0] in "AC" else "black"
    axes.text(x + SIDE / 2, y, name, ha="center", va="center", fontsize=16, color=color)


def row(axes, y, names, x=2.6, gap=0.1):
    """Draw records in a row."""
    for number, name in enumerate(names):
        tile(axes, x + number * (SIDE + gap), y, name)


def say(axes, y, text, x=0.1, **options):
    """Write text to the left of a row."""
    axes.text(x, y, text, va="center", **options)


def file(axes, x, y, letter, color="0.4"):
    """Draw a file: a frame around its records."""
    axes.add_patch(Rectangle((x, y - 0.46), 2.96, 0.92, facecolor="white", edgecolor=color, linewidth=2.5))
    row(axes, y, [f"{letter}{number}" for number in range(1, 5)], x + 0.09, 0.1)


def files(axes):
    """Draw four files in storage."""
    say(axes, 2.1, "list_files")
    for number, letter in enumerate("ABCD"):
        file(axes, 2.6 + 3.3 * (number % 2), TOP - 1.3 * (number // 2), letter)
    say(axes, 2.1, "16 records\nin 4 files", 9.5)


def shard(axes):
    """Draw how each rank takes every second file."""
    for rank, letters in enumerate(("AC", "BD")):
        say(axes, TOP - 1.3 * rank, f"rank {rank}", weight="bold", color=COLORS[rank])
        for number, letter in enumerate(letters):
            file(axes, 2.6 + 3.3 * number, TOP - 1.3 * rank, letter, COLORS[rank])
    say(axes, 2.1, "each opens\nonly its own", 9.5)
    say(axes, 0.45, "From here on: only rank 0.", 2.6, fontsize=16)


def interleave(axes):
    """Draw how records of two files alternate."""
    file(axes, 2.6, TOP + 0.35, "A", COLORS[0])
    file(axes, 2.6, TOP - 0.75, "C", COLORS[0])
    arrow(axes, (5.75, TOP + 0.2), (6.7, LOW + 0.5), bend=-0.15)
    arrow(axes, (5.75, TOP - 0.9), (6.3, LOW + 0.5), bend=-0.15)
    say(axes, TOP - 0.2, "two files\nat once")
    say(axes, TOP - 0.2, "neighbours come from\ndifferent files", 7.6)
    say(axes, LOW, "in turns")
    row(axes, LOW, MINE)


def decode(axes):
    """Draw how bytes become pixels, several at a time."""
    say(axes, TOP + 0.1, "JPEG bytes")
    say(axes, LOW, "pixels")
    for number, name in enumerate(MINE):
        x = 2.6 + number * (SIDE + 0.1)
        axes.add_patch(Circle((x + SIDE / 2, TOP + 0.1), 0.24, facecolor=GREYS[name[0]], edgecolor="white"))
        tile(axes, x, LOW, name)
        core = number % 4
        style = {"color": INPUT if number < 4 else WAIT}
        arrow(axes, (x + SIDE / 2, TOP - 0.25), (x + SIDE / 2, LOW + 0.4), **style)
        if number < 4:
            axes.text(x + SIDE / 2 + 0.07, 1.85, f"core {core}", fontsize=16, color=INPUT, rotation=90, va="center")
    say(axes, 1.85, "four cores: four\nat a time", 8.7)


def cache(axes):
    """Draw how the first epoch fills the cache and the others read it."""
    box(axes, (5.5, 1.85), "cache: memory, or a file on the node", (5.8, 0.85), COLORS[2])
    row(axes, TOP + 0.25, MINE)
    say(axes, TOP + 0.25, "decoded")
    arrow(axes, (4.0, TOP - 0.12), (4.0, 2.32), COLORS[2])
    axes.text(4.15, 2.5, "epoch 1", va="center", fontsize=16)
    arrow(axes, (7.0, 1.4), (7.0, LOW + 0.1), COLORS[2])
    axes.text(7.15, 1.12, "every epoch", va="center", fontsize=16)
    row(axes, LOW - 0.35, MINE)
    say(axes, 1.85, "From epoch 2\non, nothing\nabove runs.", 8.9)


def shuffle(axes):
    """Draw a buffer of four, from which records are drawn at random."""
    say(axes, TOP + 0.2, "comes in")
    row(axes, TOP + 0.2, MINE)
    axes.add_patch(Rectangle((2.5, TOP - 0.26), 2.98, 0.92, facecolor="none", edgecolor=COLORS[1], linewidth=3))
    axes.text(4.0, TOP - 0.55, "buffer of 4", ha="center", va="center", color=COLORS[1], weight="bold")
    arrow(axes, (4.0, TOP - 0.8), (4.0, LOW + 0.42), COLORS[1])
    axes.text(4.25, 1.55, "draw one, refill", va="center", fontsize=16)
    say(axes, LOW, "goes out")
    row(axes, LOW, SHUFFLED)
    say(axes, 1.85, "A4 can never\ncome first.", 8.9)


def augment(axes):
    """Draw the window of each image, which differs between epochs."""
    windows = {TOP - 0.1: (0.0, 0.55, 0.3, 0.1, 0.5, 0.2), LOW: (0.5, 0.1, 0.0, 0.45, 0.25, 0.5)}
    for epoch, (y, shifts) in enumerate(windows.items(), 1):
        say(axes, y, f"epoch {epoch}")
        for number, (name, shift) in enumerate(zip((SHUFFLED, SHUFFLED_2)[epoch - 1], shifts)):
            x = 2.6 + 1.5 * number
            axes.add_patch(Rectangle((x, y - 0.62), 1.24, 1.24, facecolor=GREYS[name[0]], alpha=0.35))
            corner = (x + 0.62 * shift, y - 0.62 * shift)
            axes.add_patch(Rectangle(corner, 0.62, 0.62, facecolor="none", edgecolor=COLORS[1], linewidth=3))
            axes.text(x + 1.2, y - 0.59, name, ha="right", va="bottom", fontsize=16)


def batch(axes):
    """Draw how four elements become one tensor."""
    say(axes, TOP, "elements")
    row(axes, TOP, SHUFFLED)
    say(axes, LOW, "batches")
    for number in range(2):
        x = 2.5 + number * 4.0
        left = 2.6 + number * 4 * (SIDE + 0.1)
        axes.add_patch(Polygon([(left, 2.36), (left + 2.78, 2.36), (x + 2.98, 1.4), (x, 1.4)], facecolor=WAIT))
        axes.add_patch(Rectangle((x, LOW - 0.46), 2.98, 0.92, facecolor="white", edgecolor=COLORS[0], linewidth=3))
        row(axes, LOW, SHUFFLED[4 * number : 4 * number + 4], x + 0.1)
    say(axes, TOP, "4 elements:\none tensor", 8.9)


def prefetch(axes):
    """Draw how the next batch is made while the network works on this one."""
    for y, late, title in ((TOP + 0.25, True, "without"), (LOW + 0.25, False, "with\nprefetch")):
        say(axes, y, title, weight="bold")
        for line, (name, color) in enumerate((("CPU", INPUT), ("GPU", COMPUTE))):
            at = y + 0.3 - 0.6 * line
            say(axes, at, name, 1.75)
            axes.add_patch(Rectangle((2.6, at - 0.25), 8.9, 0.5, facecolor=WAIT, edgecolor="none"))
            for number in range(4 if not late else 3):
                x = 2.6 + (2 * number + line if late else number + line) * 1.48
                hatch = "//" if line == 0 else ""
                axes.add_patch(Rectangle((x, at - 0.25), 1.46, 0.5, facecolor=color, edgecolor="white", hatch=hatch))
                patch = {"facecolor": color, "edgecolor": "none", "pad": 1}
                axes.text(x + 0.73, at, number + 1, ha="center", va="center", color="white", weight="bold", bbox=patch)


SHOWN = (files, shard, interleave, decode, cache, shuffle, augment, batch, prefetch)


def draw():
    """Draw a step for each station."""
    steps = []
    for number, show in enumerate(SHOWN):
        figure, axes = start(number)
        show(axes)
        steps.append(figure)
    return steps


def words():
    """Return a text alternative for each step."""
    line = " ".join(MINE)
    return [
        "Station 1 of 9, files: four files A, B, C, D in storage, each with four records.",
        "Station 2, shard: rank 0 gets the files A and C, rank 1 the files B and D.",
        f"Station 3, interleave: the files A and C are read at once, and their records alternate: {line}.",
        "Station 4, decode: JPEG bytes become pixels, four records at a time on four cores.",
        "Station 5, cache: epoch 1 fills memory, or a file on the node; later epochs read it, with no earlier station.",
        f"Station 6, shuffle: a buffer holds four records; one is drawn at random and replaced: {' '.join(SHUFFLED)}.",
        f"Station 7, augment: in epoch 2 the order differs ({' '.join(SHUFFLED_2)}), and so does each image's window.",
        "Station 8, batch: four elements become one tensor; eight elements make two batches.",
        "Station 9, prefetch: without it, CPU and GPU take turns; with it, the CPU makes the next batch meanwhile.",
    ]
