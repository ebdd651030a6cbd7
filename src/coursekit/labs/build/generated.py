"""Notebooks that the builder owns: written only when their bytes change, and never over somebody's own work."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import nbformat

from coursekit.errors import CourseKitError
from coursekit.files import Report, no_report, write_if_changed
from coursekit.labs.build.script import SCRIPT_NAME, kind_of


def to_bytes(notebook: nbformat.NotebookNode) -> bytes:
    """Return a notebook as it is kept in a file: sorted keys, one space of indentation, a newline at the end."""
    text: str = nbformat.writes(notebook, version=nbformat.NO_CONVERT, indent=1, sort_keys=True)
    return f"{text}\n".encode()


def publish(
    folder: Path, notebook: nbformat.NotebookNode, files: Mapping[str, bytes], report: Report = no_report
) -> Path:
    """Write a notebook, which takes the folder's name, and the files that belong to it, and return its path.

    The notebook receives the mark by which later builds know their own work.
    """
    path = folder / f"{folder.name}.ipynb"
    notebook.metadata.coursekit.files = sorted(files)
    notebook.metadata.coursekit.checksum = checksum(cell.source for cell in notebook.cells)
    for name, content in files.items():
        write_if_changed(folder / name, content, report)
    write_if_changed(path, to_bytes(notebook), report)
    return path


def checksum(sources: Iterable[str]) -> str:
    """Return a fingerprint of what cells say; running a notebook does not change it, editing does."""
    return hashlib.sha256(json.dumps(list(sources)).encode()).hexdigest()


def refuse_edited(path: Path) -> None:
    """Refuse to go on when somebody worked in a generated notebook, such as a student in `labs/`, or in its script.

    Raises:
        CourseKitError: the cells of the notebook, or the script beside it, are not as the builder wrote them.
    """
    script = path.with_name(SCRIPT_NAME)
    if script.exists() and kind_of(script) not in {"release", "solution"}:
        raise CourseKitError(
            f"{script} is not as the builder made it and may hold a student's answers: "
            "move it out of the way and build again."
        )
    if not path.exists():
        return
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        # A notebook's text is one string or a list of lines.
        is_edited = notebook["metadata"]["coursekit"]["checksum"] != checksum(
            "".join(cell["source"]) for cell in notebook["cells"]
        )
    except (ValueError, KeyError, TypeError):
        raise CourseKitError(
            f"{path} is not a notebook made by the builder: move it out of the way and build again."
        ) from None
    if is_edited:
        raise CourseKitError(
            f"{path} was edited since it was built and may hold a student's answers: "
            "move it out of the way and build again."
        )
