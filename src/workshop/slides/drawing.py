"""Drawing helpers for the slides' figures: a canvas, boxes and arrows in the labs' colours, and a loss landscape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from coursekit.pictures.output import COLORS, GREY

FULL_INCH = (11.6, 4.6)  # across a slide, below its heading
HALF_INCH = (5.7, 4.6)  # beside a column of text

# Colours for the phases of a training step, as in the labs' pictures of throughput.
COMPUTE, COMMUNICATE, INPUT, WAIT = COLORS[0], COLORS[1], COLORS[2], "0.85"

COLLECTIVE = "0.25"  # a box or bar in which all ranks meet; no rank has this colour

MIN_CONTRAST_OF_LARGE_LETTERS = 3.3  # WCAG asks for 3 from 18 points up; some of our letters have 16

Point = tuple[float, float]


def canvas(size_inch: tuple[float, float] = FULL_INCH, num_panels: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure with this many panels side by side, in the slides' style."""
    figure = Figure(figsize=size_inch, layout="constrained")
    return figure, list(figure.subplots(1, num_panels, squeeze=False)[0])


def diagram(size_inch: tuple[float, float] = FULL_INCH) -> tuple[Figure, Axes]:
    """Return a figure for boxes and arrows: no axes, one unit is one inch, the origin at the lower left."""
    figure = Figure(figsize=size_inch)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, size_inch[0]), ylim=(0, size_inch[1]))
    axes.set_axis_off()
    return figure, axes


def box(axes: Axes, center: Point, text: str, size: Point = (1.6, 0.8), color: str = COLORS[0], **options: Any) -> None:
    """Draw a box with text in it, filled with `color`, or with `filled=False` only framed in it."""
    filled = options.pop("filled", True)
    corner = (center[0] - size[0] / 2, center[1] - size[1] / 2)
    face = color if filled else "white"
    style = "round,pad=0,rounding_size=0.08"
    axes.add_patch(FancyBboxPatch(corner, *size, boxstyle=style, facecolor=face, edgecolor=color, linewidth=2))
    axes.text(*center, text, ha="center", va="center", color=ink_on(face), **options)


def node_frame(axes: Axes, corner: Point, size: Point) -> None:
    """Draw a node as in every diagram: a light background with a thin frame, below everything in it."""
    axes.add_patch(Rectangle(corner, *size, facecolor="#f3f6f9", edgecolor="0.55", linewidth=2, zorder=0))


def ink_on(ground: str) -> str:
    """Return white if it is readable on this colour, else black; see WCAG 2.2 on the contrast of large letters."""
    channels = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in to_rgb(ground)]  # noqa: PLR2004  # sRGB, IEC 61966-2-1
    luminance = sum(weight * channel for weight, channel in zip((0.2126, 0.7152, 0.0722), channels))
    return "white" if (1 + 0.05) / (luminance + 0.05) >= MIN_CONTRAST_OF_LARGE_LETTERS else "black"


def arrow(axes: Axes, start: Point, end: Point, color: str = GREY, bend: float = 0.0, **options: Any) -> None:
    """Draw an arrow; `bend` is its curvature as a share of its length."""
    options = {"linewidth": 2.5, "arrowstyle": "-|>", "mutation_scale": 22, "shrinkA": 2, "shrinkB": 2, **options}
    curve = f"arc3,rad={bend}"
    axes.add_patch(FancyArrowPatch(start, end, connectionstyle=curve, color=color, **options))


def loss_at(moments: Mapping[str, float], slope: Any, offset: Any) -> Any:
    """Return the mean squared error of one line, or of arrays of lines, from the data's means x, y, xx, xy, yy."""
    quadratic = slope**2 * moments["xx"] + offset**2 + 2 * slope * offset * moments["x"]
    return quadratic - 2 * slope * moments["xy"] - 2 * offset * moments["y"] + moments["yy"]


def draw_landscape(axes: Axes, moments: Mapping[str, float], slopes: Point, offsets: Point, **options: Any) -> Any:
    """Draw lines of equal loss, and a cross at the best parameters; return the contours."""
    x, y = np.meshgrid(np.linspace(*slopes, 150), np.linspace(*offsets, 150))
    surface = loss_at(moments, x, y)
    levels = surface.min() + (surface.max() - surface.min()) * np.linspace(0.01, 0.999, 13) ** 2
    contours = axes.contour(x, y, surface, levels=levels, colors="0.72", linewidths=1.3, **options)
    best = np.linalg.solve([[moments["xx"], moments["x"]], [moments["x"], 1]], [moments["xy"], moments["y"]])
    axes.plot(*best, "X", color=COLORS[7], markersize=12, markeredgecolor="white", zorder=5)
    axes.set(xlim=slopes, ylim=offsets, xlabel="slope m", ylabel="offset n")
    axes.grid(visible=False)
    return contours
