"""A deck is one session of the lecture: a Markdown file with a header, whose slides are separated by `---`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import yaml

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.toml_files import AtLeast

NAME = "[0-9][0-9]*-*.md"  # 08a-one.md and 08b-other.md are two halves of a session
HEADER = re.compile(r"\A---\n(.*?\n)---\n", re.DOTALL)
FENCE = re.compile(r"\s*(```|~~~)")
TITLE = re.compile(r"^#{1,2} +(.+?) *$", re.MULTILINE)
NOTE = re.compile(r"<!--\s*(\d+(?:\.\d+)?) min\.\s+(.+?)-->", re.DOTALL)


@dataclass(frozen=True)
class Deck:
    """One session."""

    name: str  # the file's name without `.md`; its number gives the order
    path: Path  # the file
    body: str  # the Markdown below the header
    title: str  # what the session is about
    minutes: Annotated[int, AtLeast(1)]  # how long it takes; the minutes in its notes must add up to this


@dataclass(frozen=True)
class Slide:
    """One slide: its number in the deck (from 1), its heading, the minutes in its note, and its Markdown.

    `minutes` is 0 for a slide of the appendix, which is not shown, and None if there is no note.
    """

    number: int
    title: str
    minutes: float | None
    text: str


def find_decks(root: Path) -> tuple[Deck, ...]:
    """Read all decks of `slides/`, in order.

    Raises:
        CourseKitError: a header is wrong; the message names the file and the key.
    """
    return tuple(load_deck(path) for path in sorted((root / "slides").glob(NAME)))


def load_deck(path: Path) -> Deck:
    """Read one deck.

    Raises:
        CourseKitError: there is no header, or it is wrong.
    """
    where = f"slides/{path.name}"
    text = path.read_text(encoding="utf-8")
    header = HEADER.match(text)
    if not header:
        raise CourseKitError(f"{where} has no header: begin it with ---, title, minutes, ---.", "deck.no-header")
    try:
        table = yaml.safe_load(header[1])
    except yaml.YAMLError as error:
        raise CourseKitError(
            f"{where}: the header is not valid YAML: {' '.join(str(error).split())}.", "deck.invalid-header"
        ) from None
    given = {"name": path.stem, "path": path, "body": text[header.end() :]}
    return toml_files.read(Deck, table, where, **given)


def slides_of(markdown: str) -> tuple[Slide, ...]:
    """Return the slides of a deck's Markdown, which has no header and may be filled in or not."""
    return tuple(
        Slide(
            number=number,
            title=title[1] if (title := TITLE.search(text)) else "",
            minutes=float(note[1]) if (note := NOTE.search(text)) else None,
            text=text,
        )
        for number, text in enumerate(split(markdown), 1)
    )


def split(markdown: str) -> Iterator[str]:
    """Yield the Markdown of each slide; three dashes inside a code block separate nothing."""
    lines: list[str] = []
    in_code = False
    for line in markdown.splitlines():
        in_code ^= bool(FENCE.match(line))
        if line.strip() == "---" and not in_code:
            yield "\n".join(lines)
            lines = []
        else:
            lines.append(line)
    yield "\n".join(lines)
