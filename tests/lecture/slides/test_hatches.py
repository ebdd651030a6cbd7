"""Hatched shapes are drawn as lines, which a browser prints as lines."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

from coursekit.lecture.slides.hatches import as_lines


def svg(**look):
    """Return a figure with two bars as matplotlib writes it."""
    figure = Figure()
    figure.subplots().bar([0, 1], [1, 2], color="#0072b2", **look)
    file = io.StringIO()
    figure.savefig(file, format="svg")
    return file.getvalue()


def test_no_pattern_is_left():
    """Every hatched bar keeps its ground, and its lines are clipped to it; patterns are gone."""
    written = svg(hatch="//", edgecolor="white", alpha=0.5)
    drawn = as_lines(written)

    assert (written.count("<pattern"), written.count("url(#h")) == (1, 2)
    assert "<pattern" not in drawn
    assert drawn.count('<clipPath id="hatched') == drawn.count('<g clip-path="url(#hatched') == 2
    assert drawn.count("fill: #0072b2") == 2
    assert 'opacity="0.5"' in drawn


def test_lines_cover_the_whole_shape():
    """Squares of the pattern begin wherever the bars are: the tall one needs more of them than the low one."""
    drawn = as_lines(svg(hatch="x", edgecolor="white"))
    low, tall = (part.count("<use href") for part in drawn.split('<clipPath id="hatched')[1:])

    assert tall > low > 4


def test_a_figure_without_hatches_stays():
    """Nothing else is changed."""
    plain = svg()

    assert as_lines(plain) == plain
