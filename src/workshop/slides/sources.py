"""Facts and numbers from others, each with its source (`slides/facts/`, `slides/published/`), and the glossary."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.text import markdown_table

FACTS = "slides/facts"
PUBLISHED = "slides/published"
GLOSSARY = "docs/glossary.md"
TERM = re.compile(r"^\| \*\*(?P<term>[^*|]+)\*\* \| (?P<meaning>[^|]+) \|$", re.MULTILINE)

Cell = int | float | str


@dataclass(frozen=True)
class Fact:
    """One fact that a deck quotes: its text as printed, and its source."""

    value: str
    source: str


@dataclass(frozen=True)
class _Facts:
    facts: Mapping[str, Fact]


@dataclass(frozen=True)
class Published:
    """A table of numbers that somebody else published, with source (authors, title, year, place) and machine."""

    source: str
    machine: str
    rows: tuple[Mapping[str, Cell], ...]

    @property
    def words(self) -> str:
        """One line on where the numbers come from."""
        return f"Published: {self.source} On {self.machine}."


def load_facts(root: Path) -> Mapping[str, Fact]:
    """Read the facts that decks quote, from all files; each deck's facts are in a file with its name.

    Raises:
        CourseKitError: a file is wrong, or two files hold a fact of the same name.
    """
    facts: dict[str, Fact] = {}
    for path in sorted((root / FACTS).glob("*.toml")):
        where = f"{FACTS}/{path.name}"
        read = toml_files.load(_Facts, path, where).facts
        if set(read) & set(facts):
            raise CourseKitError(
                f"{where}: {sorted(set(read) & set(facts))} are in another file of {FACTS}/, too.", "fact.twice"
            )
        facts.update(read)
    return facts


def load_published(root: Path, name: str) -> Published:
    """Read one table of published numbers.

    Raises:
        CourseKitError: there is no table of this name, or it is wrong.
    """
    where = f"{PUBLISHED}/{name}.toml"
    if not (root / where).is_file():
        names = sorted(path.stem for path in (root / PUBLISHED).glob("*.toml"))
        raise CourseKitError(
            f"there is no {where}: {PUBLISHED}/ has {', '.join(names) or 'none'}.", "published.missing"
        )
    return toml_files.load(Published, root / where, where)


def load_glossary(root: Path) -> dict[str, str]:
    """Return the meaning of each term, in the order of the page."""
    return dict(TERM.findall((root / GLOSSARY).read_text(encoding="utf-8")))


def glossary(root: Path, *terms: str) -> str:
    """Return the terms and their meanings as a table for a slide.

    Raises:
        CourseKitError: the page lacks one of the terms.
    """
    meanings = load_glossary(root)
    for term in terms:
        if term not in meanings:
            raise CourseKitError(f"{GLOSSARY} has no term {term!r}.", "glossary.no-term")
    return markdown_table(("term", "meaning"), ((f"**{term}**", meanings[term]) for term in terms))
