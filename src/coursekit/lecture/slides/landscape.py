"""The loss of a straight line as a landscape over slope and offset, drawn from the moments of recorded data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.pictures import COLORS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

Range = tuple[float, float]


def loss_at(moments: Mapping[str, float], slope: Any, offset: Any) -> Any:
    """Return the mean squared error of lines, numbers or arrays of them, from the data's means x, y, xx, xy, yy."""
    quadratic = slope**2 * moments["xx"] + offset**2 + 2 * slope * offset * moments["x"]
    return quadratic - 2 * slope * moments["xy"] - 2 * offset * moments["y"] + moments["yy"]


def draw_landscape(axes: Axes, moments: Mapping[str, float], slopes: Range, offsets: Range, **options: Any) -> Any:
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
