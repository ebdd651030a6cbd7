"""Bytes that each parameter needs, without activations, by precision and optimiser."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ()
CAPTION = "Bytes for each parameter, at the moment when all gradients exist."
PARTS = ("weights", "gradients", "optimiser", "FP16 copy")
ROWS = {
    "FP32, SGD": (4, 4, 0, 0),
    "FP32, momentum": (4, 4, 4, 0),
    "FP32, Adam": (4, 4, 8, 0),
    "mixed, Adam,\nFP16 gradients": (4, 2, 8, 2),
    "mixed, Adam,\ntf.keras": (4, 4, 8, 2),
}
LOOK = ((COLORS[0], ""), (COLORS[1], "//"), (COLORS[2], ".."), (COLORS[3], "xx"))


def draw():
    """Draw a stacked bar for each way."""
    figure, (axes,) = canvas((7.0, 4.5))
    for row, parts in enumerate(ROWS.values()):
        left = 0
        for (color, hatch), part, name in zip(LOOK, parts, PARTS):
            axes.barh(-row, part, left=left, height=0.6, color=color, hatch=hatch, edgecolor="white")
            if row == len(ROWS) - 1:  # the one row that has all parts
                axes.text(left + part / 2, -row - 0.4, name, ha="center", va="top", fontsize=16, color=color)
            left += part
        axes.text(left + 0.3, -row, str(left), va="center")
    axes.set_yticks([-row for row in range(len(ROWS))], list(ROWS))
    axes.set(xlabel="bytes per parameter", xlim=(0, 21), ylim=(-5.1, 0.5))
    axes.grid(visible=False, axis="y")
    return figure


def words():
    """Return the sums as text."""
    rows = [
        f"{name}: {', '.join(f'{part} {size}' for part, size in zip(PARTS, parts) if size)}, in all {sum(parts)}"
        for name, parts in ROWS.items()
    ]
    return f"Bytes per parameter. {'; '.join(rows)}.".replace("\n", " ")
