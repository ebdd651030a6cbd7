"""The magnitudes that FP32, bfloat16 and FP16 can hold, on an axis of powers of two."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ()
CAPTION = "From the smallest subnormal to the largest number."
# Exponents of the smallest subnormal, the smallest normal and (about) the largest number.
RANGES = {"FP16": (-24, -14, 16), "bfloat16": (-133, -126, 128), "FP32": (-149, -126, 128)}
COLOR = {"FP16": COLORS[1], "bfloat16": COLORS[2], "FP32": COLORS[0]}


def draw():
    """Draw a bar for each format; subnormal numbers are hatched."""
    figure, (axes,) = canvas((11.6, 3.9))
    for row, (name, (smallest, normal, largest)) in enumerate(RANGES.items()):
        color = COLOR[name]
        axes.barh(row, largest - normal, left=normal, height=0.42, color=color, edgecolor=color)
        axes.barh(row, normal - smallest, left=smallest, height=0.42, color="white", edgecolor=color, hatch="///")
        axes.text(smallest - 2, row, f"$2^{{{smallest}}}$", ha="right", va="center")
        axes.text(largest + 2, row, f"$2^{{{largest}}}$", va="center")
    axes.annotate(
        "subnormal: fewer digits", xy=(-19, -0.22), xytext=(-60, -0.75), ha="right", va="center",
        arrowprops={"arrowstyle": "-", "color": "0.4"},
    )  # fmt: skip
    axes.set_yticks(range(len(RANGES)), list(RANGES))
    axes.set(xlabel="magnitude, as a power of two", xlim=(-185, 165), ylim=(-1.1, 2.5))
    axes.set_xticks(range(-150, 151, 50), [f"$2^{{{power}}}$" for power in range(-150, 151, 50)])
    axes.grid(visible=False, axis="y")
    return figure


def words():
    """Return the ends of each range as text."""
    rows = [
        f"{name}: subnormal numbers from 2 to the {smallest}, normal ones from 2 to the {normal}, up to nearly "
        f"2 to the {largest}"
        for name, (smallest, normal, largest) in RANGES.items()
    ]
    return f"{'. '.join(rows)}. FP16 covers a small part of what the others cover."
