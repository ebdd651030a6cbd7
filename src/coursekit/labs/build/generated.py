"""Notebooks that the builder owns: written only when their bytes change, removed only when the builder made them."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import nbformat

from coursekit.errors import CourseKitError
from coursekit.files import Report, no_report, write_if_changed
from coursekit.labs.build.script import SCRIPT_NAME, kind_of

BY_PRODUCTS = {".ipynb_checkpoints", "__pycache__"}


def to_bytes(notebook: nbformat.NotebookNode) -> bytes:
    """Return a notebook as it is kept in a file: sorted keys, one space of indentation, a newline at the end."""
    text: str = nbformat.writes(notebook, version=nbformat.NO_CONVERT, indent=1, sort_keys=True)
    return f"{text}\n".encode()


def publish(
    folder: Path, notebook: nbformat.NotebookNode, files: Mapping[str, bytes], report: Report = no_report
) -> Path:
    """Make a lab's folder hold this notebook and these files, and none of those that an earlier build put there.

    Args:
        folder: `build/source/<lab>` or `labs/<lab>`; the notebook takes its name.
        notebook: what to write; it receives the mark by which later builds know their own work.
        files: path within the folder to content.
        report: see `Report`.

    Raises:
        CourseKitError: the notebook there is not a builder's work.
    """
    path = folder / f"{folder.name}.ipynb"
    former = _files_of(path)
    notebook.metadata.coursekit.files = sorted(files)
    notebook.metadata.coursekit.checksum = checksum(cell.source for cell in notebook.cells)
    for name, content in files.items():
        write_if_changed(folder / name, content, report)
    write_if_changed(path, to_bytes(notebook), report)
    for name in sorted(former - set(files)):
        _remove(folder / name, folder, report)
    return path


def remove_stale(parent: Path, keep: Collection[str], report: Report = no_report) -> None:
    """Remove from `build/source` or `labs` the folders of labs that are not to be kept.

    Raises:
        CourseKitError: a folder, or a file in it, is not a builder's work; nothing is removed from that folder then.
    """
    folders = (path for path in sorted(parent.glob("*")) if path.is_dir() and path.name[0] not in "._")
    for folder in folders:
        if folder.name in keep:
            continue
        path = folder / f"{folder.name}.ipynb"
        refuse_edited(path)
        ours = {folder / name for name in _files_of(path)} | ({path} if path.exists() else set())
        foreign = [
            p for p in sorted(folder.rglob("*")) if p.is_file() and p not in ours and BY_PRODUCTS.isdisjoint(p.parts)
        ]
        if foreign:
            raise CourseKitError(
                f"{foreign[0]} was not made by the builder, and the lab {folder.name} is no longer in solutions/: "
                "move it away and build again."
            )
        for old in sorted(ours):
            _remove(old, parent, report)
        shutil.rmtree(folder, ignore_errors=True)


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
    if path.exists():
        mark, sources = _read(path)
        if mark.get("checksum") != checksum(sources):
            raise CourseKitError(
                f"{path} was edited since it was built and may hold a student's answers: "
                "move it out of the way and build again."
            )


def _files_of(path: Path) -> set[str]:
    # A mark is text that anybody may have edited: never follow it out of the lab's folder.
    names: list[str] = _read(path)[0].get("files", []) if path.exists() else []
    inside = {name for name in names if name.startswith("files/") and ".." not in PurePosixPath(name).parts}
    return inside | ({SCRIPT_NAME} & set(names))


def _read(path: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the builder's mark in a notebook and the text of its cells, whatever else is wrong with the notebook."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        mark = notebook["metadata"]["coursekit"]
        # A notebook's text is one string or a list of lines.
        return {"generated_from": mark["generated_from"], **mark}, ["".join(c["source"]) for c in notebook["cells"]]
    except (ValueError, KeyError, TypeError):
        raise CourseKitError(
            f"{path} is not a notebook made by the builder: move it out of the way and build again."
        ) from None


def _remove(path: Path, stop: Path, report: Report) -> None:
    path.unlink(missing_ok=True)
    report("removed", path)
    for folder in path.parents:
        if folder == stop or any(folder.glob("*")):
            return
        if folder.exists():
            folder.rmdir()
