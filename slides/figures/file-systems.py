"""Where files live: the nearer to the GPU, the faster, the smaller, and the sooner gone."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import arrow, box, diagram

DATA = ()
CAPTION = "Four places for files on most machines; names and limits differ."

ROWS = (
    ("the node's memory or disk", "/lscratch, /ramdisk", "gone after the job"),
    ("scratch", r"\$SCRATCH, /scratch", "unused files are removed"),
    ("project", r"\$WORK, \$STORE", "kept; shared by your group"),
    ("home", r"\$HOME", "kept, and small"),
)


def draw():
    """Draw the places as steps, the fastest on top."""
    figure, axes = diagram()
    for row, (name, path, fate) in enumerate(ROWS):
        y = 3.55 - 0.98 * row
        box(axes, (2.75, y), name, (3.5, 0.74), color=COLORS[row])
        axes.text(4.9, y, path, ha="left", va="center", family="monospace", fontsize=16)
        axes.text(8.15, y, fate, ha="left", va="center")
    arrow(axes, (0.6, 0.35), (0.6, 4.0))
    axes.text(0.3, 2.2, "faster", rotation=90, ha="center", va="center")
    axes.text(2.75, 4.3, "place", ha="center", va="center", fontweight="bold")
    axes.text(4.9, 4.3, "called", ha="left", va="center", fontweight="bold")
    axes.text(8.15, 4.3, "what becomes of files", ha="left", va="center", fontweight="bold")
    return figure


def words():
    """Return the places as text."""
    listed = "; ".join(f"{name} ({path.replace(chr(92), '')}): {fate}" for name, path, fate in ROWS)
    return f"From the fastest to the slowest: {listed}."
