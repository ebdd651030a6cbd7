"""Seconds from a call to the result of one tiny allreduce on two ranks, for three ways to start them."""

from __future__ import annotations

from coursekit.lecture.slides.drawing import HALF_INCH, canvas
from coursekit.pictures import COLORS

DATA = ("results/launch",)
CAPTION = "Bars: median of later calls; crosses: the first call."


def draw(data):
    """Draw a bar and a cross for each way."""
    figure, (axes,) = canvas(HALF_INCH)
    medians = list(data["median_s"].values())
    for index, (way, median) in enumerate(zip(data["ways"], medians)):
        axes.barh(index, median, 0.55, color=COLORS[index], hatch=("", "//", "..")[index])
        axes.plot(way["first_s"], index, "X", color="black", markersize=11, clip_on=False)
        axes.text(
            median * 0.9 if index else median * 1.15, index - 0.42, f"{median:.2g} s", ha="right" if index else "left"
        )
    axes.set_yticks(range(len(medians)), [way["name"] for way in data["ways"]])
    axes.set(xscale="log", xlim=(0.05, 30), xlabel="seconds", ylim=(2.5, -0.8))
    axes.set_xticks([0.1, 1, 10], ["0.1", "1", "10"])
    axes.grid(visible=False, axis="y")
    return figure


def words(data):
    """Tell first call and median of each way."""
    told = [
        f"{way['name']} {median:.2g} s, the first time {way['first_s']:.2g} s"
        for way, median in zip(data["ways"], data["median_s"].values())
    ]
    return f"From the call to the result: {'; '.join(told)}."
