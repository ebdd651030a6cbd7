"""The glossary: `docs/glossary.md` is its one source, of which slides show a few terms."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.text import markdown_table

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "docs/glossary.md"
ROW = re.compile(r"^\| \*\*(?P<term>[^*|]+)\*\* \| (?P<meaning>[^|]+) \|$", re.MULTILINE)


def load_glossary(root: Path) -> dict[str, str]:
    """Return the meaning of each term, in the page's order.

    Raises:
        CourseKitError: a term stands there twice.
    """
    rows = ROW.findall((root / PAGE).read_text(encoding="utf-8"))
    twice = [term for term, times in Counter(term for term, _ in rows).items() if times > 1]
    if twice:
        raise CourseKitError(f"{PAGE} explains a term twice: {', '.join(twice)}.")
    return dict(rows)


def glossary(root: Path, *terms: str) -> str:
    """Return terms and their meanings as a table for a slide.

    Raises:
        CourseKitError: the page does not have one of them.
    """
    meanings = load_glossary(root)
    for term in terms:
        if term not in meanings:
            raise CourseKitError(f"{PAGE} has no term {term!r}.")
    return markdown_table(("term", "meaning"), ((f"**{term}**", meanings[term]) for term in terms))
