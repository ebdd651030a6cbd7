"""Images per second that training gets from pipelines of the same images, built in different ways."""

import numpy as np

from coursekit.pictures import COLORS, GREY
from workshop.slides.drawing import canvas

DATA = ("results/pipeline",)
CAPTION = "JPEGs of 500 pixels; waiting stands in for the accelerator. Median of turns."
NAMES = {
    "nothing": "nothing parallel, no prefetch",
    "nothing, mended": "… rewritten by TensorFlow",
    "prefetch": "prefetch",
    "parallel map": "parallel map",
    "parallel map, prefetch": "parallel map, prefetch",
    "cache of the records": "… and cache before decoding",
    "cache of the pictures": "… and cache after decoding",
}


def draw(results):
    """Draw a bar for each way, and the speed of the network alone."""
    figure, (axes,) = canvas()
    speeds = {row["way"]: row["later"] for row in results["speeds"]}
    places = np.arange(len(NAMES))[::-1]
    values = [speeds[way] for way in NAMES]
    colors = [COLORS[3] if way == "nothing, mended" else GREY for way in NAMES]
    colors[-1] = COLORS[2]
    bars = axes.barh(places, values, color=colors, edgecolor="white", hatch=["//"] * (len(NAMES) - 1) + [""])
    axes.bar_label(bars, fmt="%.0f", fontsize=16, padding=5)
    axes.axvline(results["limit"], color=COLORS[0], linestyle="--")
    axes.text(results["limit"] * 0.985, places[0], "the network's own speed", color=COLORS[0], ha="right", va="center")
    axes.set_yticks(places, list(NAMES.values()))
    axes.set(xlabel="images per second", xlim=(0, results["limit"] * 1.06))
    axes.grid(axis="y", visible=False)
    return figure


def words(results):
    """Return the text alternative."""
    speeds = {row["way"]: row["later"] for row in results["speeds"]}
    parts = ", ".join(f"{name} {speeds[way]:.0f}" for way, name in NAMES.items())
    return f"Images per second: {parts}. The network itself could take {results['limit']}."
