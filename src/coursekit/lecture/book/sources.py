"""What the book is made of: pages as they stand in the checkout, labs with pictures, a page for each deck.

The folder of sources has the form of the checkout, so that links between its pages hold as they are.
Links to files that are no page lose their link and keep their words.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import nbformat

from coursekit.labs.build.build import source_notebook
from coursekit.labs.build.leaks import refuse_leaks, texts
from coursekit.labs.lab import find_labs
from coursekit.lecture.book.in_words import in_words
from coursekit.lecture.slides.deck import find_decks, slides_of
from coursekit.lecture.slides.fill import Filler

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from coursekit.labs.lab import Lab
    from coursekit.lecture.slides.deck import Deck

PAGES = (
    "README.md", "docs/schedule.md", "docs/student.md", "docs/glossary.md", "docs/ranks.md", "docs/scaling.md",
    "docs/sites.md",
)  # fmt: skip
PAGES_OF_INSTRUCTORS = (
    "docs/instructor.md", "docs/security.md", "docs/attacks.md", "docs/site-format.md", "docs/gpus.md",
)  # fmt: skip
PNG = "image/png"
PICTURE_TAG = "picture"
HTML = "slides-html"  # where the decks lie in the book
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
OUTSIDE = re.compile(r"^(?:[a-z]+:|#|//)")
INDEX = """# {title}

Lectures, labs and pages of the course kit, to read without a network.

{parts}
"""
PART = """```{{toctree}}
:caption: {caption}
:maxdepth: 1

{names}
```
"""
DECK = """# {number} · {title}

{minutes} minutes. <a href="{here}.html">Present it</a> (P shows the notes), or <a href="{here}.pdf">print it</a>.

<iframe src="{here}.html" name="deck" title="{title}" style="width: 100%; aspect-ratio: 16/9"></iframe>

## What is on its slides

A title turns to its slide, above.

{slides}

## In words

{words}
"""


@dataclass
class Book:
    """The sources of a book.

    Attributes:
        root: the checkout.
        folder: where sources go; what was there before is removed.
        runs: the folder of a run, with the executed labs; they need not be there.
        with_solutions: whether solved labs are among them, which is for instructors.
        dropped: links that lead to no page, by page: they are words now.
    """

    root: Path
    folder: Path
    runs: Path
    with_solutions: bool = False
    dropped: dict[str, list[str]] = field(default_factory=dict)

    def gather(self) -> None:
        """Write all sources.

        Raises:
            CourseKitError: a lab's page would show a line of an answer or a hidden test.
        """
        shutil.rmtree(self.folder, ignore_errors=True)
        labs, decks = find_labs(self.root), find_decks(self.root)
        parts = {
            "The course": PAGES,
            "Labs": [f"labs/{lab.name}/{lab.name}.ipynb" for lab in labs],
            "Lectures": [f"slides/{deck.path.name}" for deck in decks],
            "For instructors": PAGES_OF_INSTRUCTORS,
        }
        if self.with_solutions:
            parts["Solutions"] = [f"solutions/{lab.name}/{lab.name}.ipynb" for lab in labs]
        pages = {name for names in parts.values() for name in names}
        for name in (*PAGES, *PAGES_OF_INSTRUCTORS):
            self._write(name, self._linked(name, (self.root / name).read_text(encoding="utf-8"), pages))
        for deck in decks:
            self._write(f"slides/{deck.path.name}", self._deck_page(deck))
        for lab in labs:
            self._write_lab(lab, pages)
        listed = "\n".join(
            PART.format(caption=caption, names="\n".join(name.rpartition(".")[0] for name in names))
            for caption, names in parts.items()
        )
        self._write("index.md", INDEX.format(title="Data-parallel deep learning", parts=listed))

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def _linked(self, name: str, text: str, pages: set[str]) -> str:
        """Return a text whose links lead to pages of the book or outside; pictures are copied beside."""

        def replace(found: re.Match[str]) -> str:
            mark, words, target = found.groups()
            if OUTSIDE.match(target):
                return found[0]
            path = ((self.root / name).parent / target.partition("#")[0]).resolve()
            inside = path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else ""
            if mark and path.is_file():
                copy = self.folder / inside
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
                return found[0]
            if inside in pages:
                return found[0]
            self.dropped.setdefault(name, []).append(target)
            return words

        return LINK.sub(replace, text)

    def _deck_page(self, deck: Deck) -> str:
        filled = Filler(self.root, self.folder / "drawn").fill(deck) if "{{" in deck.body else deck.body
        slides = slides_of(filled)
        here = f"../{HTML}/{deck.path.stem}"
        listed = "\n".join(
            f'1. <a href="{here}.html#{slide.number}" target="deck">{slide.title}</a>' for slide in slides
        )
        number = deck.path.stem.partition("-")[0]
        told = {"slides": listed, "words": in_words(slides)}
        return DECK.format(number=number, title=deck.title, minutes=deck.minutes, here=here, **told)

    def _write_lab(self, lab: Lab, pages: set[str]) -> None:
        name = f"labs/{lab.name}/{lab.name}.ipynb"
        released = json.loads((self.root / name).read_text(encoding="utf-8"))
        executed = self._executed(lab)
        pictures = {cell["id"]: list(_pictures(cell)) for cell in executed["cells"]} if executed else {}
        for cell in released["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = self._linked(name, "".join(cell["source"]), pages)
            elif PICTURE_TAG in cell["metadata"].get("tags", ()):
                cell["outputs"] = pictures.get(cell["id"], [])
        notebook = nbformat.from_dict(released)
        refuse_leaks(lab.name, source_notebook(lab), texts(notebook, {}))
        self._write(name, json.dumps(released))
        if self.with_solutions and executed:
            self._write(f"solutions/{lab.name}/{lab.name}.ipynb", json.dumps(executed))

    def _executed(self, lab: Lab) -> dict[str, Any] | None:
        """Return the lab's notebook of the newest run, or None."""
        path = self.runs / lab.name / f"{lab.name}.ipynb"
        if not path.is_file():
            return None
        executed: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return executed


def _pictures(cell: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what a cell has drawn, without the rest of what it showed."""
    for output in cell.get("outputs", ()):
        if PNG in output.get("data", {}):
            metadata = {PNG: output["metadata"].get(PNG, {})}
            yield {"output_type": "display_data", "data": {PNG: output["data"][PNG]}, "metadata": metadata}
