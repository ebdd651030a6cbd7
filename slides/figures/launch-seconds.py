"""The time from a call to the result of one tiny allreduce on two ranks, for three ways to start them."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, canvas

DATA = ("results/launch",)
CAPTION = "As multiples of the median of ranks.run; bars: medians of later calls."


def draw(data):
    """Draw a bar and a cross for each way."""
    figure, (axes,) = canvas(HALF_INCH)
    medians = _ratios(data)
    for index, (way, median) in enumerate(zip(data["ways"], medians)):
        axes.barh(index, median, 0.55, color=COLORS[index], hatch=("", "//", "..")[index])
        axes.plot(way["first_s"] / _unit_s(data), index, "X", color="black", markersize=11, clip_on=False)
        axes.text(
            median * 0.9 if index else median * 1.15,
            index - 0.42,
            f"{median:.2g} \N{MULTIPLICATION SIGN}",
            ha="right" if index else "left",
        )
    first = data["ways"][0]["first_s"] / _unit_s(data)
    axes.text(first, -0.3, "first call", ha="center", va="bottom", fontsize=16)
    axes.set_yticks(range(len(medians)), [way["name"] for way in data["ways"]])
    axes.set(xscale="log", xlim=(0.25, 150), xlabel="multiples of ranks.run", ylim=(2.5, -0.8))
    axes.set_xticks([1, 10, 100], ["1", "10", "100"])
    axes.grid(visible=False, axis="y")
    return figure


def _unit_s(data):
    return next(iter(data["median_s"].values()))


def _ratios(data):
    return [median / _unit_s(data) for median in data["median_s"].values()]


def words(data):
    """Return the first call and the median of each way as text."""
    described = [
        f"{way['name']} {ratio:.2g} times, the first time {way['first_s'] / _unit_s(data):.2g} times"
        for way, ratio in zip(data["ways"], _ratios(data))
    ]
    return f"From the call to the result, as multiples of the median of ranks.run: {'; '.join(described)}."
