"""Measured: one exchange of many small tensors with tensor fusion and without."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, canvas

DATA = ("results/tensor-fusion",)
CAPTION = "Bars: medians of one exchange on two ranks over Gloo; points: single steps."
NAMES = {"on": "fusion on", "off": "fusion off"}


def draw(data):
    """Draw a bar for each setting, and its single steps as points."""
    figure, (axes,) = canvas(HALF_INCH)
    for index, (name, color) in enumerate(zip(NAMES, (COLORS[0], COLORS[1]))):
        median = data["median_ms"][name]
        axes.bar(index, median, 0.6, color=color, hatch="//" if index else "")
        steps = data["ms"][name]
        axes.plot([index + 0.42] * len(steps), steps, ".", color="0.3", markersize=5)
        axes.text(index, median * 1.12, f"{median:.3g} ms", ha="center", va="bottom")
    axes.set_xticks(range(2), NAMES.values(), fontsize=18)
    axes.set(yscale="log", ylabel="ms", xlim=(-0.5, 1.7), ylim=(1, 5 * max(data["ms"]["off"])))
    axes.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    axes.grid(visible=False, axis="x")
    return figure


def words(data):
    """Return the medians as text."""
    on, off = data["median_ms"]["on"], data["median_ms"]["off"]
    return f"One exchange of {data['num_tensors']} tensors takes {on:.3g} ms with fusion, {off:.3g} ms without."
