"""Build the lecture: fill in the decks, check their text, render them, and measure every slide."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from coursekit.errors import CourseKitError
from coursekit.labs.lab import matching
from workshop.slides import browser, marp
from workshop.slides.check import check_deck
from workshop.slides.deck import Deck, Slide, find_decks, slides_of
from workshop.slides.fill import Filler

OUTPUT = "build/slides"
HEADER = """---
marp: true
theme: coursekit
math: mathjax
paginate: true
title: "{title}"
footer: "{number} · {title}"
---
"""


def select_decks(root: Path, names: Sequence[str]) -> tuple[Deck, ...]:
    """Return the decks whose names begin with one of the given ones, such as `02`; all decks if none is given.

    Raises:
        CourseKitError: no deck has such a name, or this is a students' copy, which has no decks.
    """
    decks = find_decks(root)
    if not decks:
        raise CourseKitError("slides/ has no decks here: build the lecture in the instructors' checkout.", "deck.none")
    for name in names:
        if not matching([deck.name for deck in decks], name):
            raise CourseKitError(
                f"there is no deck {name!r}: slides/ has {', '.join(deck.name for deck in decks)}.", "deck.unknown"
            )
    chosen = {one for name in names for one in matching([deck.name for deck in decks], name)}
    return tuple(deck for deck in decks if not names or deck.name in chosen)


def make_slides(
    root: Path,
    decks: Sequence[Deck],
    verbs: Collection[str],
    *,
    pdf: bool,
    progress: Callable[[str], None],
) -> list[Path]:
    """Build HTML pages of decks in `build/slides/`, with `pdf` also PDFs, and return the files to open.

    Slides may name only the commands in `verbs`. `progress` is called with a few words before each step.

    Raises:
        CourseKitError: a deck has a fault, or a slide overflows or cannot be read; the message lists all faults.
    """
    folder = root / OUTPUT
    folder.mkdir(parents=True, exist_ok=True)
    marp.lay_out(root, folder)
    names = {deck.name for deck in find_decks(root)}
    for path in folder.glob("[0-9][0-9]*-*"):
        if path.name.partition(".")[0] not in names:  # built from a deck that no longer exists
            path.unlink()
    filler = Filler(root, folder / "figures")
    files: list[Path] = []
    slides: list[Sequence[Slide]] = []
    faults: list[str] = []
    for deck in decks:
        progress(f"{deck.name}: figures and numbers")
        body = filler.fill(deck)
        slides.append(slides_of(body))
        faults += check_deck(root, deck, slides[-1], verbs)
        files.append(folder / f"{deck.name}.md")
        files[-1].write_text(
            HEADER.format(title=deck.title, number=deck.name.partition("-")[0]) + body, encoding="utf-8"
        )
    progress("rendering")
    bare = marp.to_html(root, files, "bare")
    with browser.opened() as page:
        for deck, of_deck, file in zip(decks, slides, bare):
            progress(f"{deck.name}: measuring")
            faults += _measure(page, deck, of_deck, file)
    made = marp.to_html(root, files)  # these replace the bare pages
    if pdf:
        progress("printing")
        made += marp.to_pdf(root, files)
    if faults:
        raise CourseKitError("\n".join([f"faults to fix on the slides ({len(faults)}):", *faults]), "slides.faults")
    return sorted(made)


def _measure(page: Any, deck: Deck, slides: Sequence[Slide], bare: Path) -> list[str]:
    return [
        f"slides/{deck.path.name}, slide {slide.number} ({slide.title}): {finding}."
        for slide, findings in zip(slides, browser.measure(page, bare))
        for finding in findings
    ]
