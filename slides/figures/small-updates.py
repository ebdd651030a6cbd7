"""The same small step, added to one a thousand times, in FP32 and in FP16."""

from __future__ import annotations

import numpy as np

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ("results/mixed-precision",)
CAPTION = "Actually added in NumPy."


def draw(data):
    """Draw both sums against the number of additions."""
    figure, (axes,) = canvas((6.6, 4.6))
    for (name, sums), color, line, label in zip(data["sums"].items(), COLORS, ("-", "--"), ("FP32", "FP16")):
        axes.plot(np.linspace(0, 1000, len(sums)), sums, color=color, linestyle=line, label=name)
        axes.annotate(label, (1000, sums[-1]), (6, 0), textcoords="offset points", va="center", color=color)
    axes.set(xlabel="additions", ylabel="weight", xlim=(0, 1000), ylim=(0.97, 1.34))
    axes.set_title(f"weight ← weight + {data['step_size']}")
    return figure


def words(data):
    """Return where both end, as text."""
    ends = {name: sums[-1] for name, sums in data["sums"].items()}
    return (
        f"Starting at 1, {data['step_size']} is added a thousand times. In FP32 the sum ends at "
        f"{ends['float32']:.3g}, in FP16 at {ends['float16']:.3g}."
    )
