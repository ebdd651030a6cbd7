"""The landscape of the line's loss, against the loss itself."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from coursekit.lecture.slides.landscape import draw_landscape, loss_at


@pytest.fixture
def samples():
    """Give a cloud of points."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=40)
    return x, 1.5 * x + 0.25 + rng.normal(size=40)


@pytest.fixture
def moments(samples):
    """Give what recorders keep of the points."""
    x, y = samples
    return {"x": x.mean(), "y": y.mean(), "xx": (x * x).mean(), "xy": (x * y).mean(), "yy": (y * y).mean()}


@pytest.mark.parametrize(("slope", "offset"), [(0, 0), (1.5, 0.25), (-3, 7)])
def test_loss_is_that_of_the_samples(samples, moments, slope, offset):
    """The moments say as much as all samples."""
    x, y = samples

    assert loss_at(moments, slope, offset) == pytest.approx(np.mean((slope * x + offset - y) ** 2))


def test_cross_stands_at_the_best_line(samples, moments):
    """It is where NumPy's least squares are."""
    axes = Figure().subplots()
    draw_landscape(axes, moments, (0, 3), (-1, 1))

    (cross,) = axes.lines
    assert (cross.get_xdata()[0], cross.get_ydata()[0]) == pytest.approx(tuple(np.polyfit(*samples, 1)))
