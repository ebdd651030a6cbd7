"""What a graded cell is called for people: the property that its check names, and the lab's section on it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit.grading.submission.program import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nbformat import NotebookNode

CHECK = re.compile(r"""\bcheck\(\s*(["'])(?P<title>.+?)\1,\s*section=(["'])(?P<section>.+?)\3""")
HEADING = re.compile(r"^#{1,2} (?P<text>.+)$", re.MULTILINE)
NUMBER = re.compile(r"(?P<number>[\w.]+)\. ")


@dataclass(frozen=True)
class Wording:
    """How a graded cell is called.

    Attributes:
        title: The property's name; the cell's own where no check names one.
        section: Heading of the lab's section that explains it; '' when there is none.
    """

    title: str
    section: str = ""


def wordings(notebook: NotebookNode) -> Mapping[str, Wording]:
    """Return by name of a cell what it is called, for every cell of a released notebook that nbgrader knows."""
    headings = [found["text"].strip() for cell in notebook.cells for found in _headings(cell)]
    numbered = {found["number"]: heading for heading in headings if (found := NUMBER.match(heading))}
    words, last = {}, ""
    for cell in notebook.cells:
        last = next((found["text"].strip() for found in reversed(_headings(cell))), last)
        checks = list(CHECK.finditer(cell.source)) if cell.cell_type == "code" else []
        title = ", ".join(dict.fromkeys(check["title"] for check in checks)) or name_of(cell)
        section = numbered.get(checks[0]["section"], f"section {checks[0]['section']}") if checks else last
        words[name_of(cell)] = Wording(title, section)
    return words


def _headings(cell: NotebookNode) -> list[re.Match[str]]:
    return list(HEADING.finditer(cell.source)) if cell.cell_type == "markdown" else []
