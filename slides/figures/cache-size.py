"""The size of ImageNet as JPEG files, and as a cache of decoded images."""

import numpy as np

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ()
CAPTION = (
    "1 281 167 images in 3 channels; whole: 400 \N{MULTIPLICATION SIGN} 350 pixels assumed; JPEG: ImageNet's archive."
)
NUM_IMAGES = 1_281_167
NUM_NODES = 8
JPEG_GB = 138
WHOLE = 400 * 350  # pixels of a whole image: an assumption, since sizes differ
ROWS = {
    "JPEG bytes": JPEG_GB,
    "whole, 8 bits": NUM_IMAGES * WHOLE * 3 / 1e9,
    "224 \N{MULTIPLICATION SIGN} 224, 8 bits": NUM_IMAGES * 224 * 224 * 3 / 1e9,
    "224 \N{MULTIPLICATION SIGN} 224, 32 bits": NUM_IMAGES * 224 * 224 * 3 * 4 / 1e9,
}
SIZES = ((COLORS[0], "", "all of it"), (COLORS[2], "//", f"the shard of one of {NUM_NODES} nodes"))


def draw():
    """Draw the size of the whole data set and of a shard for each form."""
    figure, (axes,) = canvas((11.6, 3.7))
    places = np.arange(len(ROWS))[::-1]
    for number, (color, hatch, label) in enumerate(SIZES):
        values = [size / NUM_NODES**number for size in ROWS.values()]
        style = {"color": color, "hatch": hatch, "edgecolor": "white"}
        bars = axes.barh(places + 0.2 - 0.4 * number, values, 0.38, **style)
        described = [f"{value:.0f} GB" for value in values]
        described[0] += f": {label}"
        axes.bar_label(bars, described, fontsize=16, padding=5)
    axes.set_yticks(places, list(ROWS))
    axes.set(xticks=[], xlim=(0, 900))
    axes.spines["bottom"].set_visible(False)
    axes.grid(visible=False)
    return figure


def words():
    """Return the text alternative."""
    parts = ", ".join(f"{name} {size:.0f} GB" for name, size in ROWS.items())
    return f"ImageNet as {parts}; each of {NUM_NODES} nodes holds an eighth of it."
