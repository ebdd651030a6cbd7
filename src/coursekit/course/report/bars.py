"""Bars of what a class got right and what it missed, as SVG that a page holds: read aloud, zoomed and in the dark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from coursekit.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

GOOD_COLOR, MISSED_COLOR = "#0072B2", "#D55E00"  # the first two of coursekit.pictures.COLORS, which takes matplotlib
HEAD_EM, ROW_EM, END_EM = 1.8, 2.9, 5.5

# Widths in per cent and heights in em: it fits any page, and text keeps the size of that around it.
PICTURE = Markup("""\
<svg role="img" aria-label="{alt}" width="100%" height="{height}em" font-size="1em">
<defs><pattern id="{name}" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">\
<rect width="8" height="8" fill="{missed}"/><rect width="2" height="8" fill="#fff"/></pattern></defs>
<rect x="0" y=".2em" width="1em" height="1em" fill="{good}"/><text x="1.5em" y="1.1em">{good_word}</text>
{missed_legend}
{rows}</svg>""")
MISSED_LEGEND = Markup(
    '<rect x="10em" y=".2em" width="1em" height="1em" fill="url(#{name})"/><text x="11.5em" y="1.1em">{word}</text>'
)
ROW = Markup("""\
<svg y="{y}em" width="100%" height="{height}em"><text y="1.15em">{label}\
<tspan class="quiet" dx=".75em">{note}</tspan></text>
<rect y="1.5em" height="1em" fill="{color}" style="width: {good}"/>\
<rect y="1.5em" height="1em" fill="url(#{name})" style="x: {good}; width: {missed}"/>
<text x="100%" y="2.35em" text-anchor="end">{text}</text></svg>
""")


@dataclass(frozen=True)
class Bar:
    """One bar.

    Attributes:
        label: What stands above it.
        good: How much was right, in any unit.
        missed: How much was missed, in the same unit.
        text: A few characters at its end.
        note: What stands behind the label, less loud.
    """

    label: str
    good: float
    missed: float
    text: str
    note: str = ""


def bars_as_svg(name: str, bars: Sequence[Bar], alt: str, words: tuple[str, str] = ("passed", "missed")) -> Markup:
    """Return an SVG element: bars below one another, each as long as the others.

    The `name` differs from that of every other picture of the page; `alt` says what there is to see, and `words` are
    what the two parts of a bar are called; the second is not drawn if it has no word.
    """
    rows = Markup("").join(_row(name, i, bar, draws_missed=bool(words[1])) for i, bar in enumerate(bars))
    return PICTURE.format(
        alt=printable(alt),
        height=f"{HEAD_EM + ROW_EM * len(bars):g}",
        name=name,
        good=GOOD_COLOR,
        missed=MISSED_COLOR,
        good_word=words[0],
        missed_legend=MISSED_LEGEND.format(name=name, word=words[1]) if words[1] else "",
        rows=rows,
    )


def _row(name: str, i: int, bar: Bar, *, draws_missed: bool) -> Markup:
    good, missed = (part / ((bar.good + bar.missed) or 1) for part in (bar.good, bar.missed))
    return ROW.format(
        y=f"{HEAD_EM + ROW_EM * i:g}",
        height=f"{ROW_EM:g}",
        label=printable(bar.label),
        note=printable(bar.note),
        good=_width(good),
        missed=_width(missed * draws_missed),
        color=GOOD_COLOR,
        name=name,
        text=printable(bar.text),
    )


def _width(share: float) -> str:
    """Return a part of the page's width, less the room for the text at the end."""
    return f"calc((100% - {END_EM}em) * {share:.4g})"
