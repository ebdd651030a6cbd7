"""Make the lecture: fill in the decks, check their words, render them, measure every slide."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Callable

from coursekit.errors import CourseKitError
from coursekit.slides import browser, marp
from coursekit.slides.deck import find_decks, slides_of
from coursekit.slides.fill import Filler
from coursekit.slides.wording import check_deck

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from coursekit.slides.deck import Deck

OUTPUT = "build/slides"


def select_decks(root: Path, names: Sequence[str]) -> tuple[Deck, ...]:
    """Return the decks that begin with one of the names, such as `02`; all of them without a name.

    Raises:
        CourseKitError: no deck is called that.
    """
    decks = find_decks(root)
    for name in names:
        if not any(deck.name.startswith(name) for deck in decks):
            raise CourseKitError(f"there is no deck {name!r}: slides/ has {', '.join(deck.name for deck in decks)}.")
    return tuple(deck for deck in decks if not names or deck.name.startswith(tuple(names)))


def make_slides(
    root: Path, decks: Sequence[Deck], *, pdf: bool, pictures: bool, progress: Callable[[str], None]
) -> list[Path]:
    """Make pages, and with `pdf` PDFs, of decks in `build/slides/`; with `pictures` a PNG of every slide, too.

    Returns:
        The files to open.

    Raises:
        CourseKitError: a deck is wrong, or a slide overflows or cannot be read; the message lists every finding.
    """
    folder = root / OUTPUT
    folder.mkdir(parents=True, exist_ok=True)
    marp.lay_out(root, folder)
    filler = Filler(root, folder / "figures")
    files, faults = [], []
    for deck in decks:
        progress(f"{deck.name}: figures and numbers")
        files.append(folder / f"{deck.name}.md")
        files[-1].write_text(filler.fill(deck), encoding="utf-8")
        faults += check_deck(root, deck, files[-1].read_text(encoding="utf-8"))
    made = []
    with browser.opened() as page:
        for deck, file in zip(decks, files):
            progress(f"{deck.name}: rendering")
            (bare,) = marp.to_html(root, [file], "bare")
            faults += _measure(page, deck, file, bare)
            if pictures:
                shutil.rmtree(folder / "pictures" / deck.name, ignore_errors=True)
                browser.take_pictures(page, bare, folder / "pictures" / deck.name, deck.name)
            bare.unlink()
            made += marp.to_html(root, [file])
            if pdf:
                progress(f"{deck.name}: printing")
                made.append(marp.to_pdf(root, file))
    if faults:
        raise CourseKitError("\n".join([f"{len(faults)} thing(s) to mend on the slides:", *faults]))
    return made


def _measure(page: object, deck: Deck, file: Path, bare: Path) -> list[str]:
    body = file.read_text(encoding="utf-8").split("---\n", 2)[2]
    slides = slides_of(body)
    return [
        f"slides/{deck.path.name}, slide {slide.number} ({slide.title}): {finding}."
        for slide, findings in zip(slides, browser.measure(page, bare))
        for finding in findings
    ]
