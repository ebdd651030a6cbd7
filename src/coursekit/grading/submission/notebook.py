"""A notebook that a student handed in, read as plain data: source text and the marks of cells, nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coursekit.grading.submission.students_files import RefusedFileError, read_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MAX_NUM_CELLS = 1000
MAX_NUM_DIGITS = 40
MAX_SOURCE_CHARACTERS = 1_000_000
MAX_NAME_CHARACTERS = 200


class DamagedNotebookError(Exception):
    """A notebook cannot be read; the message says why in a few words."""


@dataclass(frozen=True)
class StudentCell:
    """One cell as it was handed in.

    Attributes:
        cell_type: "code", "markdown" or "raw".
        grade_id: nbgrader's name of the cell; empty when its metadata is lost.
        cell_id: Jupyter's id of the cell; may be empty.
        points: What the metadata says it is worth; None when it says nothing.
        is_answer: Whether the metadata calls it an answer; None when it says nothing.
        was_run: Whether it carries the number of an execution.
    """

    cell_type: str
    source: str
    grade_id: str = ""
    cell_id: str = ""
    points: object = None
    is_answer: bool | None = None
    was_run: bool = False


@dataclass(frozen=True)
class StudentNotebook:
    """The cells, and what the notebook says of itself: kernel, language, the lab it was made from."""

    cells: tuple[StudentCell, ...]
    kernel: str = ""
    language: str = ""
    made_from: str = ""


def read_notebook(folder: Path, name: str) -> StudentNotebook:
    """Read a notebook within a student's folder.

    Raises:
        DamagedNotebookError: it is not a notebook of format 4, or out of all bounds.
    """
    try:
        data = _parse(read_file(folder, name))
    except RefusedFileError as error:
        raise DamagedNotebookError(str(error)) from None
    if not isinstance(data, dict) or not isinstance(data.get("cells"), list):
        raise DamagedNotebookError("it has no list of cells")
    if len(data["cells"]) > MAX_NUM_CELLS:
        raise DamagedNotebookError(f"it has more than {MAX_NUM_CELLS} cells")
    cells = tuple(_cell(cell) for cell in data["cells"])
    if sum(len(cell.source) for cell in cells) > MAX_SOURCE_CHARACTERS:
        raise DamagedNotebookError(f"its cells hold more than {MAX_SOURCE_CHARACTERS} characters")
    metadata = _table(data, "metadata")
    kernel, language = _table(metadata, "kernelspec"), _table(metadata, "language_info")
    return StudentNotebook(
        cells,
        kernel=_text(kernel, "name"),
        language=_text(language, "name") or _text(kernel, "language"),
        made_from=_text(_table(metadata, "coursekit"), "generated_from"),
    )


def _parse(content: bytes) -> Any:
    """Parse JSON; Python itself bounds how deep it may be nested."""
    try:
        return json.loads(content.decode("utf-8-sig"), parse_int=_number, parse_float=_number)
    except UnicodeDecodeError:
        raise DamagedNotebookError("it is not text in UTF-8") from None
    except RecursionError:
        raise DamagedNotebookError("it is nested too deep") from None
    except ValueError as error:
        at = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise DamagedNotebookError(f"it is not valid JSON{at}" if content.strip() else "it is empty") from None


def _number(text: str) -> float:
    # A number of a million digits takes minutes to read.
    if len(text) > MAX_NUM_DIGITS:
        raise ValueError("too many digits")
    return float(text)


def _cell(cell: object) -> StudentCell:
    if not isinstance(cell, dict):
        raise DamagedNotebookError("one of its cells is not a cell")
    source = cell.get("source", "")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise DamagedNotebookError("a cell's text is not text")
    # Half of a surrogate pair cannot be written to any file.
    source = source.encode("utf-8", "replace").decode()
    marks = _table(_table(cell, "metadata"), "nbgrader")
    solution, points = marks.get("solution"), marks.get("points")
    return StudentCell(
        cell_type=_text(cell, "cell_type"),
        source=source,
        grade_id=_text(marks, "grade_id"),
        cell_id=_text(cell, "id"),
        points=points if isinstance(points, (str, float, bool, type(None))) else type(points).__name__,
        is_answer=solution if isinstance(solution, bool) else None,
        was_run=isinstance(cell.get("execution_count"), float),
    )


def _table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) and len(value) <= MAX_NAME_CHARACTERS else ""
