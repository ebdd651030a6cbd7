"""Hatches as lines: a browser that prints turns each SVG pattern into a picture of many megabytes.

matplotlib writes a hatch as a pattern, a square of ground and lines that is repeated, and fills shapes with it.
Here each such shape is filled with the ground's colour, and the pattern's lines are repeated below a clip of its form.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PATTERN = re.compile(
    r'<pattern id="(?P<id>\w+)" [^>]*width="(?P<side>\d+)"[^>]*>\s*'
    r'<rect [^>]*fill="(?P<ground>[^"]+)"/>\s*(?P<lines><path [^>]*/>)\s*</pattern>'
)
SHAPE = re.compile(r'<path d="(?P<d>[^"]+)"(?P<rest>[^>]*?)style="fill: url\(#(?P<id>\w+)\)(?P<style>[^"]*)"/>')
CLIP = re.compile(r'clip-path="[^"]+"')
OPACITY = re.compile(r"(?<!-)opacity: ([\d.]+)")
STROKE_OPACITY = re.compile(r"; stroke-opacity: [\d.]+")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def as_lines(svg: str) -> str:
    """Return the text of an SVG file of matplotlib with lines in place of the patterns that fill its paths."""
    patterns = {found["id"]: found for found in PATTERN.finditer(svg)}
    names = (f"hatched{number}" for number in range(len(svg)))

    def draw(shape: re.Match[str]) -> str:
        pattern, name = patterns[shape["id"]], next(names)
        path = f'<path d="{shape["d"]}"{shape["rest"]}style="fill: '
        outer = CLIP.search(shape["rest"])
        opacity = OPACITY.search(shape["style"])
        lines = "".join(f'<use href="#{shape["id"]}" x="{x}" y="{y}"/>' for x, y in _squares(shape, pattern))
        return (
            f'{path}{pattern["ground"]}{shape["style"]}"/>\n'
            f'<clipPath id="{name}"><path d="{shape["d"]}"/></clipPath>\n'
            f'<g {outer[0] if outer else ""}><g clip-path="url(#{name})" opacity="{opacity[1] if opacity else 1}">'
            f'{lines}</g></g>\n{path}none{shape["style"]}"/>'
        )

    drawn = SHAPE.sub(draw, svg)
    return PATTERN.sub(
        # Neighbours' lines overlap: if one can look through them, they are darker there.
        lambda found: STROKE_OPACITY.sub("", f'<g id="{found["id"]}">{found["lines"]}</g>'),
        drawn,
    )


def _squares(shape: re.Match[str], pattern: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield where the squares of a pattern begin that a shape touches; its path is in absolute coordinates."""
    side = int(pattern["side"])
    numbers = [float(number) for number in NUMBER.findall(shape["d"])]
    (left, right), (top, bottom) = ((min(axis), max(axis)) for axis in (numbers[::2], numbers[1::2]))
    for x in range(math.floor(left / side) * side, math.ceil(right), side):
        for y in range(math.floor(top / side) * side, math.ceil(bottom), side):
            yield x, y
