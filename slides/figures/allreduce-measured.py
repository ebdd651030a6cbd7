"""Horovod's allreduce on this machine, compared with the model of latency and bandwidth."""

from __future__ import annotations

import numpy as np

from coursekit.pictures import COLORS, LINE_STYLES, MARKERS
from workshop.slides.allreduce import count, ring
from workshop.slides.drawing import FULL_INCH, canvas

DATA = ("results/allreduce",)
CAPTION = "Median milliseconds of an allreduce. Points: measured; lines: the model, fitted to two ranks over Gloo."


def draw(data):
    """Draw the points of every series, and the model's line for two and for four ranks."""
    figure, (axes,) = canvas(FULL_INCH)
    for index, one in enumerate(data["series"]):
        style = {"color": COLORS[index], "marker": MARKERS[index], "linestyle": "none", "markersize": 11}
        milliseconds = 1e3 * np.array(one["seconds"])
        axes.plot(data["bytes"], milliseconds, **style)
        label = f"{one['num_ranks']} ranks, {one['way']}"
        axes.text(data["bytes"][0] / 1.4, milliseconds[0], label, color=COLORS[index], ha="right", va="center")
    sizes = np.logspace(3, 7.6, 100)
    for index, num_ranks, spread in ((0, 2, 0.7), (2, 4, 1.1)):
        milliseconds = [1e3 * _model(data, num_ranks, size) for size in sizes]
        style = {"color": COLORS[index], "linestyle": LINE_STYLES[index], "linewidth": 2}
        axes.plot(sizes, milliseconds, **style)
        axes.text(5e7, milliseconds[-1] * spread, f"model, {num_ranks} ranks", color=COLORS[index], va="center")
    axes.set(xscale="log", yscale="log", xlim=(35, 6e8), xlabel="size of the array", ylabel="ms")
    axes.set_xticks([1e3, 1e4, 1e5, 1e6, 1e7], ["1 kB", "10 kB", "100 kB", "1 MB", "10 MB"])
    axes.set_yticks([1, 10, 100], ["1", "10", "100"])
    return figure


def _model(data, num_ranks, num_bytes):
    return count(ring(num_ranks)).seconds(num_bytes, data["alpha_us"] * 1e-6, data["beta_ns_per_byte"] * 1e-9)


def words(data):
    """Return the times of the smallest and largest message of each series, and the fit, as text."""
    described = [
        f"{one['num_ranks']} ranks over {one['way']} {1e3 * one['seconds'][0]:.1f}, {1e3 * one['seconds'][-1]:.0f} ms"
        for one in data["series"]
    ]
    fitted = f"latency {data['alpha_us']:.0f} µs per step, bandwidth {data['bandwidth_gb_per_s']:.2f} GB/s"
    return f"Times of an allreduce, 1 KiB and 32 MiB: {'; '.join(described)}. Fitted to two ranks over Gloo: {fitted}."
