"""What can be wrong with a deck before it is rendered: timing, titles, typed numbers, paths and commands.

What does not fit on a slide is measured after that, in `browser.py`.
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
# What a measurement looks like in text: it must come from a recorded result or from slides/facts/.
UNITS = (
    r"ms|\u00b5s|us|s|seconds|min|hours|h|%|percent|times|\u00d7|"
    "[KMGT]i?B|bytes|bit/s|[KMGT]B/s|images/s|img/s|steps/s|GPUs|nodes"
)
TYPED = re.compile(rf"(?<![\w.])\d+(?:[ .,\u202f]\d+)*\s?(?:{UNITS})(?!\w)")
OURS = re.compile(r"^(?:labs|slurm|solutions|slides|src|docs|hub|tests)/[\w./*<>-]*$")
LINK = re.compile(r"\]\((?!https?:|#)([^)\s]+)\)")
VERB = re.compile(r"(?<!from )\b(coursekit|workshop) ([a-z][a-z-]*)")
MINUTE = 0.01  # notes may say half minutes


def check_deck(root: Path, deck: Deck, slides: Sequence[Slide], verbs: Collection[str]) -> list[str]:
    """Return what is wrong with a deck's words, one sentence each; `slides` are those of the deck when it is filled in.

    `verbs` are the commands that there are, as `coursekit run`.
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
        yield f"the notes of its slides add up to {total:g} min, its header says {deck.minutes}"


def _typed(body: str) -> Iterator[str]:
    """Find numbers that somebody typed though they were measured or quoted."""
    prose = body
    for hidden in (MARK, COMMENT, FENCED, CODE, FORMULA):
        prose = hidden.sub("_", prose)
    for found in TYPED.finditer(prose):
        yield (
            f"the number {found[0].strip()!r} is typed: take it from a recorded result "
            "or, with its source, from slides/facts/"
        )


def _leads(root: Path, slides: Sequence[Slide], verbs: Collection[str]) -> Iterator[str]:
    """Find paths and commands of ours that do not exist."""
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
