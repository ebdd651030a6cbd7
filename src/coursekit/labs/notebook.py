"""Read a student's notebook as plain data, and refuse it if it is too big; the whole kit uses this module for that.

Programs other than JupyterLab may save notebooks with a byte order mark, with sources as lists of lines, or with null
in place of metadata. Notebooks that the course itself generated are read with nbformat.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

MAX_NOTEBOOK_BYTES = 80_000_000  # a bigger notebook would consist mostly of outputs, which nobody reads
MAX_NUM_CELLS = 1000
MAX_NUM_DIGITS = 40
MAX_SOURCE_CHARACTERS = 1_000_000  # of code
MAX_TEXT_CHARACTERS = 20_000_000  # of code and text: Colab writes a pasted picture into the text


class DamagedNotebookError(Exception):
    """A file is not a notebook, or exceeds a limit; the message gives the reason in a few words."""


def parse(content: bytes) -> dict[str, Any]:
    """Return a notebook of format 4 from the content of its file.

    In each cell, `cell_type` and `source` are text; `metadata` is a dict with a list of tags and maybe nbgrader's dict.

    Raises:
        DamagedNotebookError: the file is not a notebook, or exceeds a limit.
    """
    if len(content) > MAX_NOTEBOOK_BYTES:
        size_mb, most_mb = len(content) / 1e6, MAX_NOTEBOOK_BYTES / 1e6
        raise DamagedNotebookError(f"it is too big: {size_mb:.0f} MB; the limit is {most_mb:.0f} MB")
    data = _load(content)
    if not isinstance(data, dict) or not isinstance(data.get("cells"), list):
        raise DamagedNotebookError("it has no list of cells")
    if len(data["cells"]) > MAX_NUM_CELLS:
        raise DamagedNotebookError(f"it has more than {MAX_NUM_CELLS} cells")
    cells = [_cell(cell) for cell in data["cells"]]
    if sum(len(cell["source"]) for cell in cells if cell.get("cell_type") == "code") > MAX_SOURCE_CHARACTERS:
        raise DamagedNotebookError(f"its code cells hold more than {MAX_SOURCE_CHARACTERS} characters")
    if sum(len(cell["source"]) for cell in cells) > MAX_TEXT_CHARACTERS:
        raise DamagedNotebookError(f"its cells hold more than {MAX_TEXT_CHARACTERS} characters")
    return {**data, "cells": cells, "metadata": table(data, "metadata")}


def _load(content: bytes) -> Any:
    """Return the data in a JSON file; Python's own parser limits how deeply they may be nested."""
    try:
        return json.loads(content.decode("utf-8-sig"), parse_int=_int, parse_float=_float)
    except UnicodeDecodeError:
        raise DamagedNotebookError("it is not text in UTF-8") from None
    except RecursionError:
        raise DamagedNotebookError("it is nested too deeply") from None
    except ValueError as error:
        at = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise DamagedNotebookError(f"it is not valid JSON{at}" if content.strip() else "it is empty") from None


def _int(text: str) -> int:
    return int(_short(text))


def _float(text: str) -> float:
    return float(_short(text))


def _short(text: str) -> str:
    # It takes minutes to read a number with a million digits.
    if len(text) > MAX_NUM_DIGITS:
        raise ValueError("too many digits")
    return text


def _cell(cell: object) -> dict[str, Any]:
    if not isinstance(cell, dict):
        raise DamagedNotebookError("one of its cells is not a JSON object")
    source = joined("" if cell.get("source") is None else cell["source"])
    if source is None:
        raise DamagedNotebookError("the source of a cell is not text")
    metadata = {name: value for name, value in table(cell, "metadata").items() if value is not None}
    tags = metadata.get("tags")
    metadata["tags"] = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    if "nbgrader" in metadata:
        metadata["nbgrader"] = table(metadata, "nbgrader")
    # Half of a surrogate pair cannot be written to a file.
    source = source.encode("utf-8", "replace").decode()
    return {**cell, "cell_type": str(cell.get("cell_type")), "source": source, "metadata": metadata}


def joined(text: object) -> str | None:
    """Return, as one string, text that Jupyter stores as a string or as a list of lines; None for anything else."""
    lines: list[Any] = text if isinstance(text, list) else [text]
    return "".join(lines) if all(isinstance(line, str) for line in lines) else None


def table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the dict that is stored under a key; an empty dict if the key is missing or holds something else."""
    value = data.get(key)
    return value if isinstance(value, dict) else {}
