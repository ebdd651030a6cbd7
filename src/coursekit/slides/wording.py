"""What can be wrong with a deck before it is rendered: timing, titles, typed numbers, paths and commands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coursekit.cli import COMMANDS
from coursekit.slides.deck import slides_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from coursekit.slides.deck import Deck

MARK = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
FENCED = re.compile(r"^\s*(```|~~~).*?^\s*\1", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL)
# What a measurement looks like in text: it must come from a recorded result or from slides/facts/.
UNITS = "ms|µs|us|s|seconds|min|hours|h|%|percent|times|×|[KMGT]i?B|bytes|bit/s|[KMGT]B/s|images/s|img/s|steps/s|GPUs|nodes"
TYPED = re.compile(rf"(?<![\w.])\d[\d  .,]*\s?(?:{UNITS})(?![\w])")
OURS = re.compile(r"^(?:labs|slurm|solutions|slides|src|docs|hub|tests)/[\w./*<>-]*$")
LINK = re.compile(r"\]\((?!https?:|#)([^)\s]+)\)")
VERB = re.compile(r"\bcoursekit ([a-z][a-z-]*)")
MINUTE = 0.01  # notes may say half minutes


def check_deck(root: Path, deck: Deck, filled: str) -> list[str]:
    """Return what is wrong with a deck's words, one sentence each.

    Args:
        root: the course checkout.
        deck: as it was written.
        filled: its Markdown with figures and numbers in place.
    """
    where = f"slides/{deck.path.name}"
    slides = slides_of(filled.split("---\n", 2)[2])
    return [f"{where}: {fault}." for fault in [*_timing(deck, filled), *_typed(deck.body), *_leads(root, slides)]]


def _timing(deck: Deck, filled: str) -> Iterator[str]:
    slides = slides_of(filled.split("---\n", 2)[2])
    for slide in slides:
        if not slide.title:
            yield f"slide {slide.number} has no heading (# or ##)"
        if not slide.minutes:
            yield f"slide {slide.number} ({slide.title}) has no note <!-- N min. What to say. -->"
    total = sum(slide.minutes for slide in slides)
    if abs(total - deck.minutes) > MINUTE:
        yield f"the notes of its slides add up to {total:g} min, its header says {deck.minutes}"


def _typed(body: str) -> Iterator[str]:
    """Find numbers that somebody typed though they were measured or quoted."""
    prose = body
    for hidden in (MARK, COMMENT, FENCED, CODE, FORMULA):
        prose = hidden.sub(" ", prose)
    for found in TYPED.finditer(prose):
        yield (
            f"the number {found[0].strip()!r} is typed: take it from a recorded result "
            "or, with its source, from slides/facts/"
        )


def _leads(root: Path, slides: object) -> Iterator[str]:
    """Find paths and commands of ours that do not exist."""
    for slide in slides:  # type: ignore[attr-defined]
        at = f"slide {slide.number} ({slide.title})"
        paths = [code for code in CODE.findall(slide.text) if OURS.match(code)]
        for path in paths:
            if not any(root.glob(path.replace("<", "[").replace(">", "]").rstrip("/"))) and "<" not in path:
                yield f"{at} names {path}, which does not exist"
        for link in LINK.findall(slide.text):
            if not (root / "slides" / link).exists():
                yield f"{at} links to {link}, which does not exist"
        for verb in VERB.findall(slide.text):
            if verb not in COMMANDS:
                yield f"{at} names `coursekit {verb}`, which is no command"
