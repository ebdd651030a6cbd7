"""Check a deck before it is rendered: timing, titles, typed numbers, paths and commands.

After rendering, `browser.py` measures what does not fit on a slide.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from workshop.slides.deck import Deck, Slide

MARK = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
FENCED = re.compile(r"^\s*(```|~~~).*?^\s*\1", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL)
# Matches a measured number in text; it must come from a recorded result or from slides/facts/.
UNITS = (
    r"ms|\u00b5s|us|s|seconds|min|hours|h|%|percent|times|\u00d7|"
    "[KMGT]i?B|bytes|bit/s|[KMGT]B/s|images/s|img/s|steps/s|GPUs|nodes"
)
TYPED = re.compile(rf"(?<![\w.])\d+(?:[ .,\u202f]\d+)*\s?(?:{UNITS})(?!\w)")
OURS = re.compile(r"^(?:labs|slurm|solutions|slides|src|docs|hub|tests)/[\w./*<>-]*$")
LINK = re.compile(r"\]\((?!https?:|#)([^)\s]+)\)")
VERB = re.compile(r"(?<!from )\b(coursekit|workshop) ([a-z][a-z-]*)")
MINUTE = 0.01  # notes may have half minutes


def check_deck(root: Path, deck: Deck, slides: Sequence[Slide], verbs: Collection[str]) -> list[str]:
    """Return one sentence for each fault in a deck's text; `slides` are the slides of the filled-in deck.

    `verbs` are the existing commands, such as `coursekit run`.
    """
    faults = [*_timing(deck, slides), *_typed(deck.body), *_leads(root, slides, verbs)]
    return [f"slides/{deck.path.name}: {fault}." for fault in faults]


def _timing(deck: Deck, slides: Sequence[Slide]) -> Iterator[str]:
    for slide in slides:
        if not slide.title:
            yield f"slide {slide.number} has no heading (# or ##)"
        if slide.minutes is None:
            yield f"slide {slide.number} ({slide.title}) has no note <!-- N min. What to say. -->"
    total = sum(slide.minutes or 0 for slide in slides)
    if abs(total - deck.minutes) > MINUTE:
        yield f"the notes of its slides add up to {total:g} min, but its header says {deck.minutes}"


def _typed(body: str) -> Iterator[str]:
    """Find measured or quoted numbers that somebody typed by hand."""
    prose = body
    for hidden in (MARK, COMMENT, FENCED, CODE, FORMULA):
        prose = hidden.sub("_", prose)
    for found in TYPED.finditer(prose):
        yield (
            f"the number {found[0].strip()!r} is typed by hand: take it from a recorded result, "
            "or put it into slides/facts/ with its source"
        )


def _leads(root: Path, slides: Sequence[Slide], verbs: Collection[str]) -> Iterator[str]:
    """Find paths and commands of the kit that do not exist."""
    for slide in slides:
        at = f"slide {slide.number} ({slide.title})"
        for path in filter(OURS.match, CODE.findall(slide.text)):
            # A part in angle brackets stands for any name.
            if not any(root.glob(re.sub("<[^>]*>", "*", path).rstrip("/"))):
                yield f"{at} names {path}, which does not exist"
        for link in LINK.findall(slide.text):
            if not (root / "slides" / link).exists():
                yield f"{at} links to {link}, which does not exist"
        for words in map(" ".join, VERB.findall(slide.text)):
            if words not in verbs:
                yield f"{at} names `{words}`, which is not a command"
