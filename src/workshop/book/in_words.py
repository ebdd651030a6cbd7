"""A deck's slides as a page to read and to search: their words, commands, and what their pictures show.

Python stays on the slides: lectures show lines that labs ask for, and no page of the students' book has those.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from workshop.slides.deck import Slide

CODE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
DROPPED = re.compile(r'<!--.*?-->|<(style|script|svg)\b.*?</\1>|<p class="legend">.*?</p>', re.DOTALL)
FIGURE = re.compile(r"<figure>.*?</figure>", re.DOTALL)
ALT = re.compile(r' alt="([^"]*)"')
PYTHON = "```python"
MOTION = 'class="frames"'
TAG = re.compile(r"</?[a-z][a-z0-9]*(?:\s[^<>]*)?>")
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)
MARKUP = re.compile(r"([\\`*_$<>\[\]|#~])")


def in_words(slides: Iterable[Slide]) -> str:
    """Return a section for each slide; steps in motion are told there only if no slide has them for itself.

    Args:
        slides: of a deck that is filled in, with figures as HTML.
    """
    slides = list(slides)
    figures = [figure for slide in slides for figure in FIGURE.findall(slide.text) if MOTION not in figure]
    still = {alt for figure in figures for alt in _alts(figure)}
    return "\n".join(f"### {slide.number}. {slide.title}\n\n{_body(slide.text, still)}\n" for slide in slides)


def _alts(figure: str) -> list[str]:
    return [html.unescape(alt) for alt in ALT.findall(figure)]


def _body(text: str, still: set[str]) -> str:
    parts = CODE.split(text)
    parts[::2] = [_prose(part, still) for part in parts[::2]]
    parts[1::2] = ["*Code: on the slide.*" if part.startswith(PYTHON) else part for part in parts[1::2]]
    body = "\n\n".join(filter(None, (part.strip() for part in parts)))
    return re.sub(r"\A\*\*.+\*\*\n*", "", body)  # the slide's own heading is that of its section


def _prose(text: str, still: set[str]) -> str:
    """Return what is between two blocks of code, without HTML; headings are bold lines."""

    def pictured(figure: re.Match[str]) -> str:
        alts = [alt for alt in _alts(figure[0]) if MOTION not in figure[0] or alt not in still]
        return "\n\n".join("*Picture:* " + MARKUP.sub(r"\\\1", alt) for alt in alts)

    bare = TAG.sub("", FIGURE.sub(pictured, DROPPED.sub("", text)))
    return re.sub(r"\n{3,}", "\n\n", HEADING.sub(r"**\1**", bare))
