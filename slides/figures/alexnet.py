"""AlexNet layer by layer: shapes, parameters and multiplications."""

import numpy as np

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ("results/alexnet",)
CAPTION = "Convolutions include the pooling after them; shapes are before pooling."
TIMES = " \N{MULTIPLICATION SIGN} "
CONVOLUTION, DENSE = COLORS[0], COLORS[1]


def weighted(results):
    """Return the layers that have weights, with short names."""
    layers = [layer for layer in results["layers"] if layer["num_parameters"]]
    names = [f"conv {number}" for number in range(1, 6)] + [f"dense {number}" for number in range(1, 4)]
    return list(zip(names, layers))


def draw(results):
    """Draw bars of parameters on the left and of multiplications on the right."""
    figure, (left, right) = canvas(num_panels=2)
    layers = weighted(results)
    places = np.arange(len(layers))[::-1]
    colors = [CONVOLUTION if layer["kind"] == "Conv2D" else DENSE for _, layer in layers]
    hatches = ["" if layer["kind"] == "Conv2D" else "//" for _, layer in layers]
    for axes, key, title in (
        (left, "num_parameters", "parameters, millions"),
        (right, "num_multiplications", "multiplications, millions"),
    ):
        values = [layer[key] / 1e6 for _, layer in layers]
        axes.barh(places, values, color=colors, hatch=hatches, edgecolor="white")
        for place, value in zip(places, values):
            text = f"{value:.2f}" if value < 1 else f"{value:.0f}"
            axes.text(value + max(values) * 0.015, place, text, va="center", fontsize=16)
        axes.set(title=title, xlim=(0, max(values) * 1.14), xticks=[])
        axes.grid(visible=False)
        axes.spines["bottom"].set_visible(False)
    shapes = [f"{name}   {TIMES.join(map(str, layer['shape']))}" for name, layer in layers]
    left.set_yticks(places, shapes)
    right.set_yticks([])
    return figure


def words(results):
    """Return the text alternative."""
    parts = [
        f"{name} of shape {' by '.join(map(str, layer['shape']))}: "
        f"{layer['num_parameters'] / 1e6:.2f} million parameters, "
        f"{layer['num_multiplications'] / 1e6:.0f} million multiplications"
        for name, layer in weighted(results)
    ]
    return f"{'; '.join(parts)}."
