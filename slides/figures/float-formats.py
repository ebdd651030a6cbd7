"""How FP32, TF32, FP16 and bfloat16 use their bits."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import diagram

DATA = ()
CAPTION = "Bits for the sign, the exponent and the fraction."
FORMATS = {"FP32": (8, 23), "TF32": (8, 10), "bfloat16": (8, 7), "FP16": (5, 10)}
CELL, HEIGHT, LEFT = 0.25, 0.55, 1.75
SIGN, EXPONENT, FRACTION = "0.35", COLORS[1], COLORS[0]


def draw():
    """Draw one row of cells for each format."""
    figure, axes = diagram((11.6, 4.4))
    for row, (name, (num_exponent, num_fraction)) in enumerate(FORMATS.items()):
        y = 3.2 - row * 0.98
        axes.text(LEFT - 0.2, y + HEIGHT / 2, name, ha="right", va="center", fontsize=20, weight="bold")
        for bit in range(1 + num_exponent + num_fraction):
            color = SIGN if bit == 0 else EXPONENT if bit <= num_exponent else FRACTION
            hatch = "//" if color == EXPONENT else ""
            place = (LEFT + bit * CELL, y)
            axes.add_patch(_cell(place, color, hatch))
        end = LEFT + (1 + num_exponent + num_fraction) * CELL + 0.2
        axes.text(end, y + HEIGHT / 2, f"1 + {num_exponent} + {num_fraction}", va="center", fontsize=20)
    for x, word, color in ((0.95, "sign", SIGN), (2.0, "exponent: how large", EXPONENT)):
        axes.text(x, 4.0, word, color=color, weight="bold")
    axes.text(5.5, 4.0, "fraction: how exact", color=FRACTION, weight="bold")
    return figure


def _cell(place, color, hatch):
    from matplotlib.patches import Rectangle  # one use

    return Rectangle(place, CELL, HEIGHT, facecolor=color, edgecolor="white", linewidth=1.5, hatch=hatch)


def words():
    """Return the numbers of bits as text."""
    rows = [f"{name}: {exponent} and {fraction}" for name, (exponent, fraction) in FORMATS.items()]
    return (
        f"Each has one bit for the sign, then bits for exponent and fraction. {'; '.join(rows)}. TF32 has the exponent "
        "of FP32 and the fraction of FP16; bfloat16 is FP32 cut off after sixteen bits."
    )
