"""Read a py:percent text notebook, and record the line at which each cell starts."""

from __future__ import annotations

import re

import jupytext
import nbformat

from coursekit.errors import CourseKitError
from coursekit.framework import HOROVOD
from coursekit.labs.lab import Lab

# The lines at which jupytext starts a cell; they include indented markers.
MARKER = re.compile(r"\s*#\s*%%+(\s|$)")
# jupytext would also turn comments into commands if they begin with a word such as `copy` or `cat`.
FORMAT = {"extension": ".py", "format_name": "percent", "comment_magics": False}
MAGIC = re.compile(r"^(\s*)# (%{1,2}[a-z]|![a-z])", re.MULTILINE)

LINE = "marker_line"


class CellError(CourseKitError):
    """A fault in a cell; the message begins with the cell's file and line."""

    def __init__(
        self, notebook: nbformat.NotebookNode, cell: nbformat.NotebookNode, sentence: str, code: str = ""
    ) -> None:
        super().__init__(f"{notebook.metadata.coursekit.generated_from}:{cell.metadata[LINE]}: {sentence}.", code)


def read_text_notebook(lab: Lab) -> nbformat.NotebookNode:
    """Read a lab's source.

    jupytext drops line numbers, so each marker first gets its line number as an additional attribute.

    Returns:
        A notebook in which commented magics (`# %%ranks 2`, `# !ls`) are active.
        A cell's metadata holds the attributes from the author's marker, and `marker_line`, which counts from 1.

    Raises:
        CourseKitError: this is a students' copy, which has no source; there is text before the first marker; or
            a marker is inside a text or a fenced block, or has malformed tags.
    """
    shown = f"{lab.folder.parent.name}/{lab.name}/{lab.source.name}"
    if not lab.source.is_file():
        raise CourseKitError(
            f"{shown} is missing: a students' copy of the course has no answers to build from.", "lab.no-source"
        )
    lines = lab.source.read_text(encoding="utf-8").splitlines()
    numbers = [i for i, line in enumerate(lines, 1) if MARKER.match(line)]
    marked = [f"{line} {LINE}={i}" if i in numbers else line for i, line in enumerate(lines, 1)]
    try:
        notebook = jupytext.reads("\n".join(marked).strip("\n") + "\n", fmt=FORMAT)
    except nbformat.ValidationError as error:
        reason = str(error).partition("\n")[0]
        raise CourseKitError(
            f'{shown}: tags must be a list of different words, such as tags=["parameters"], but {reason}.', "cell.tags"
        ) from None
    found = [cell.metadata.get(LINE) for cell in notebook.cells]
    if not numbers or None in found:
        raise CourseKitError(
            f"{shown}:1: start each cell, including the first, with `# %%` or `# %% [markdown]`.", "cell.no-marker"
        )
    for i in numbers:
        if i not in found:
            raise CourseKitError(
                f"{shown}:{i}: this cell marker is inside a text or a fenced block: move it out.",
                "cell.marker-inside",
            )
    for cell in notebook.cells:
        cell.source = cell.source.strip("\n")  # a cell magic must be on the first line
        if cell.cell_type == "code":
            cell.source = MAGIC.sub(r"\1\2", cell.source)
    framework = {} if lab.framework == HOROVOD else {"framework": lab.framework}
    notebook.metadata = nbformat.from_dict({"coursekit": {"generated_from": shown, **framework}})
    return notebook
