"""Collect the sources of the book: the checkout's pages, the labs with pictures, and a page for each deck.

The source folder has the same layout as the checkout, so links between its pages work unchanged.
Links to files that are not pages become plain text.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from coursekit.labs.build.build import alternative_file, picture_file, source_notebook
from coursekit.labs.build.release import refuse_leaks, texts
from coursekit.labs.cells import PNG, Picture, pictures_in
from coursekit.labs.lab import Lab, find_labs
from workshop.slides.deck import Deck, find_decks, slides_of
from workshop.slides.figures import draw
from workshop.slides.fill import Filler

PAGES = (
    "README.md", "docs/install.md", "docs/schedule.md", "docs/student.md", "docs/glossary.md", "docs/ranks.md",
    "docs/clusters.md", "docs/sites.md", "docs/commands.md", "docs/troubleshooting.md", "docs/scaling.md",
    "docs/benchmarks.md",
)  # fmt: skip
PAGES_OF_INSTRUCTORS = (
    "docs/teach.md", "docs/instructor.md", "docs/security.md", "docs/attacks.md", "docs/site-format.md", "docs/gpus.md",
    "docs/containers.md",
)  # fmt: skip
LABS = "labs/README.md"
PICTURE_TAG = "picture"
DRAWN = "drawn"  # where figures of slides are drawn
HTML = "slides-html"  # where the decks are in the book
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
OUTSIDE = re.compile(r"^(?:[a-z]+:|#|//)")
DECK = """# {number} · {title}

{minutes} minutes. <a href="{here}.html">Present it</a> (P shows the notes), or <a href="{here}.pdf">print it</a>.

<iframe src="{here}.html" name="deck" title="{title}" style="width: 100%; aspect-ratio: 16/9"></iframe>

## What is on its slides

Click a title to see its slide above.

{slides}
"""


@dataclass
class Book:
    """The sources of a book."""

    root: Path  # the checkout
    folder: Path  # where sources go; older contents are removed
    runs: Path  # the folder of a run with executed labs, which may be missing

    def gather(self) -> None:
        """Write all sources.

        Raises:
            CourseKitError: a lab's page would show a line of an answer or of a hidden test.
        """
        shutil.rmtree(self.folder, ignore_errors=True)
        labs, decks = find_labs(self.root), find_decks(self.root)
        parts = {
            "The course": PAGES,
            "Labs": [LABS, *(f"labs/{lab.name}/{lab.name}.ipynb" for lab in labs)],
            "Lectures": [f"slides/{deck.path.name}" for deck in decks],
            "For instructors": PAGES_OF_INSTRUCTORS,
        }
        pages = {name for names in parts.values() for name in names}
        for name in (*PAGES, *PAGES_OF_INSTRUCTORS, LABS):
            self._write(name, self._linked(name, (self.root / name).read_text(encoding="utf-8"), pages))
        for deck in decks:
            self._write(f"slides/{deck.path.name}", self._deck_page(deck))
        for lab in labs:
            self._write_lab(lab, pages)
        self._write("index.md", self._index(labs, decks, parts))

    def _index(self, labs: Sequence[Lab], decks: Sequence[Deck], parts: Mapping[str, Sequence[str]]) -> str:
        """Return the first page of the book: entries for its readers, the path through the labs, and all pages."""
        loader = FileSystemLoader(Path(__file__).parent)
        environment = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True)  # noqa: S701  # Markdown
        step, path = (draw(self.root, name, self.folder / DRAWN) for name in ("data-parallel-step", "course-path"))
        described = {
            lab.name: alternative_file(picture_file(self.root, lab)).read_text("utf-8").strip() for lab in labs
        }
        return environment.get_template("index.md.j2").render(
            labs=labs, decks=decks, parts=parts, step=step, path=path, pictures=described
        )

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def _linked(self, name: str, text: str, pages: set[str]) -> str:
        """Return a text with links only to pages of the book or outside; its pictures are copied into the book."""

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
            return found[0] if inside in pages else words

        return LINK.sub(replace, text)

    def _deck_page(self, deck: Deck) -> str:
        filled = Filler(self.root, self.folder / DRAWN).fill(deck) if "{{" in deck.body else deck.body
        slides = slides_of(filled)
        here = f"../{HTML}/{deck.path.stem}"
        listed = "\n".join(
            f'1. <a href="{here}.html#{slide.number}" target="deck">{slide.title}</a>' for slide in slides
        )
        number = deck.path.stem.partition("-")[0]
        return DECK.format(number=number, title=deck.title, minutes=deck.minutes, here=here, slides=listed)

    def _write_lab(self, lab: Lab, pages: set[str]) -> None:
        name = f"labs/{lab.name}/{lab.name}.ipynb"
        released = json.loads((self.root / name).read_text(encoding="utf-8"))
        path = self.runs / lab.name / f"{lab.name}.ipynb"
        executed = json.loads(path.read_text(encoding="utf-8"))["cells"] if path.is_file() else []
        pictures = {cell["id"]: [*map(_shown, pictures_in([cell]))] for cell in executed}
        for cell in released["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = self._linked(name, "".join(cell["source"]), pages)
            elif PICTURE_TAG in cell["metadata"].get("tags", ()):
                cell["outputs"] = pictures.get(cell["id"], [])
        notebook = nbformat.from_dict(released)
        refuse_leaks(lab.name, source_notebook(lab), texts(notebook, {}))
        self._write(name, json.dumps(released))


def _shown(picture: Picture) -> dict[str, Any]:
    """Return a picture as the output of a cell that shows nothing else."""
    return {"output_type": "display_data", "data": {PNG: picture.base64}, "metadata": {PNG: {"alt": picture.alt}}}
