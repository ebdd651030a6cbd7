"""Read a py:percent text notebook, keeping the line of the file at which each cell starts."""

from __future__ import annotations

import json
import re

import jupytext
import nbformat

from coursekit.errors import CourseKitError
from coursekit.labs.lab import Lab

# What jupytext takes for the start of a cell, indented markers included.
MARKER = re.compile(r"\s*#\s*%%+(\s|$)")
TAGS = re.compile(r"\btags=(\[[^\]]*\]|\S*)")
# jupytext would also make commands of comments that begin with a word such as `copy` or `cat`.
FORMAT = {"extension": ".py", "format_name": "percent", "comment_magics": False}
MAGIC = re.compile(r"^(\s*)# (%{1,2}[a-z]|![a-z])", re.MULTILINE)
HEADER = re.compile(r"\A# ---\n(#.*\n)*?# ---\n")

LINE = "marker_line"
FIRST_LINE = "first_line"


def read_text_notebook(lab: Lab) -> nbformat.NotebookNode:
    """Read a lab's source.

    jupytext drops line numbers, so each marker carries its own as one more attribute on the way through.

    Returns:
        A notebook with commented magics (`# %%ranks 2`, `# !ls`) in force.
        Its cells hold in their metadata what the author wrote in the marker,
        `marker_line` (of the marker) and `first_line` (of the cell's text), both counted from 1.

    Raises:
        CourseKitError: this is a students' copy, without it; there is text before the first marker,
            a marker inside a text or a fenced block, or a marker with ill-formed tags.
    """
    shown = f"{lab.folder.parent.name}/{lab.name}/{lab.source.name}"
    if not lab.source.is_file():
        raise CourseKitError(f"{shown} is not there: a students' copy of the course has no answers to build from.")
    text = lab.source.read_text(encoding="utf-8")
    # The notebook's own metadata is the builder's business, so a header is blanked, which keeps the count of lines.
    text = HEADER.sub(lambda header: "\n" * header[0].count("\n"), text)
    lines = text.splitlines()
    _refuse_text_before_cells(lines, shown)
    _refuse_bad_tags(lines, shown)
    marked = [f"{line} {LINE}={i}" if MARKER.match(line) else line for i, line in enumerate(lines, 1)]
    notebook = jupytext.reads("\n".join(marked).strip("\n") + "\n", fmt=FORMAT)
    found = [cell.metadata.get(LINE) for cell in notebook.cells]
    for i, line in enumerate(lines, 1):
        if MARKER.match(line) and i not in found:
            raise CourseKitError(
                f"{shown}:{i}: this cell marker stands inside a text or a fenced block: write it apart."
            )
    for cell in notebook.cells:
        cell.source = cell.source.strip("\n")  # a cell magic must stand in the first line
        if cell.cell_type == "code":
            cell.source = MAGIC.sub(r"\1\2", cell.source)
        cell.metadata[FIRST_LINE] = _first_line(cell.source, lines, cell.metadata[LINE])
    notebook.metadata = nbformat.from_dict({"coursekit": {"generated_from": shown}})
    return notebook


def fault(notebook: nbformat.NotebookNode, line: int, sentence: str) -> CourseKitError:
    """Return the error that names file, line and what is wrong there."""
    return CourseKitError(f"{notebook.metadata.coursekit.generated_from}:{line}: {sentence}.")


def _refuse_text_before_cells(lines: list[str], shown: str) -> None:
    for i, line in enumerate(lines, 1):
        if MARKER.match(line):
            return
        if line.strip():
            raise CourseKitError(f"{shown}:{i}: there is text before the first cell marker: start it with `# %%`.")
    raise CourseKitError(f"{shown}:1: there is no cell: start each with `# %%` or `# %% [markdown]`.")


def _refuse_bad_tags(lines: list[str], shown: str) -> None:
    # jupytext would fail on these without telling where.
    for i, line in enumerate(lines, 1):
        written = TAGS.search(line) if MARKER.match(line) else None
        if written and not _are_tags(written[1]):
            raise CourseKitError(f'{shown}:{i}: tags are a list of different words, such as tags=["parameters"].')


def _are_tags(text: str) -> bool:
    try:
        tags = json.loads(text)
    except ValueError:
        return False
    words = isinstance(tags, list) and all(isinstance(tag, str) and tag and "," not in tag for tag in tags)
    return words and len(set(tags)) == len(tags)


def _first_line(source: str, lines: list[str], marker_line: int) -> int:
    # Quotes around Markdown shift the text by a line, so look for its first line that is not blank.
    for offset, wanted in enumerate(source.splitlines()):
        if wanted.strip():
            return next(i for i in range(marker_line, len(lines)) if lines[i].endswith(wanted)) - offset + 1
    return marker_line + 1
