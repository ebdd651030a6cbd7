"""Read a student's own notebook of a lab; all commands that use such a notebook read it with this module.

Programs other than JupyterLab save notebooks without the metadata of cells (Colab, Kaggle) or without their ids (format
4.4). Cells are then recognised by comparison with the notebook that the course released.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from coursekit.errors import CourseKitError
from coursekit.labs.build.regions import HIDDEN_TESTS, outside_regions
from coursekit.labs.build.script import is_parameters, is_script
from coursekit.labs.cells import cell_name, names_of
from coursekit.labs.lab import SOLUTIONS, find_labs, load_lab, matching
from coursekit.labs.notebook import MAX_NOTEBOOK_BYTES, DamagedNotebookError, parse, table
from coursekit.paths import find_root
from coursekit.text import first_few

RELEASED = ".released.ipynb"  # in a students' copy, next to the notebook in which the student works
FORMAT = (4, 5)  # the first version of the notebook format in which cells have ids


def read_notebook(path: Path, lab: str) -> dict[str, Any]:
    """Return a student's notebook without its outputs; `lab` is the lab's name or its beginning.

    Each cell gets a unique id, and lost tags and nbgrader metadata are restored.

    Raises:
        CourseKitError: the file is missing, is not a notebook, belongs to another lab, or lacks cells.
    """
    notebook, _ = load(path)
    name = lab_of(notebook) or lab.zfill(2)
    if not name.startswith(lab.zfill(2)):
        raise CourseKitError(
            f"{path} is the notebook of lab {name}, not of {lab}: put the right notebook there.", "notebook.other-lab"
        )
    restore(notebook, path, name)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    _number(notebook)
    return notebook


def load(path: Path) -> tuple[dict[str, Any], bytes]:
    """Return a student's notebook and the bytes of its file; refuse a file that is missing, damaged or too big."""
    try:
        num_bytes = path.stat().st_size
        if num_bytes <= MAX_NOTEBOOK_BYTES:
            content = path.read_bytes()
            return parse(content), content
    except OSError as error:
        raise CourseKitError(
            f"{path} cannot be read ({error.strerror}): name the notebook after its lab.", "notebook.unreadable"
        ) from None
    except DamagedNotebookError as error:
        raise CourseKitError(
            f"{path} is damaged: {error}. Open it in JupyterLab and save it, or fetch the lab again.",
            "notebook.damaged",
        ) from None
    raise CourseKitError(
        f"{path} is too big: {num_bytes / 1e6:.0f} MB; the limit is {MAX_NOTEBOOK_BYTES / 1e6:.0f} MB. "
        "In JupyterLab, choose Edit > Clear Outputs of All Cells, save the notebook, and try again.",
        "notebook.too-big",
    )


def lab_of(notebook: Mapping[str, Any]) -> str:
    """Return the name of the lab that a notebook was made from; '' if the notebook's metadata does not name it."""
    made_from = table(notebook["metadata"], "coursekit").get("generated_from")
    return (str(made_from).split("/")[-2:-1] or [""])[0]


def restore(notebook: dict[str, Any], path: Path, lab: str) -> None:
    """Restore the metadata that cells have lost; refuse a notebook without the cells that programs need.

    The parameters are always needed; the cells of the script are needed only if all cells have lost their metadata.
    """
    if not (released := _released(path, lab)):
        return
    cells = notebook["cells"]
    is_lost = not any("nbgrader" in cell["metadata"] for cell in cells)
    known = {cell["id"]: cell for cell in released["cells"]}
    named = _name(cells, known)
    for name, cell in named:
        ours = deepcopy(known[name]["metadata"])
        tags = cell["metadata"]["tags"]
        cell["metadata"] = {**ours, **cell["metadata"]}
        cell["metadata"]["tags"] = [*tags, *(tag for tag in ours.get("tags", []) if tag not in tags)]
    notebook["metadata"] = {**deepcopy(released["metadata"]), **notebook["metadata"]}
    found = {name for name, _ in named}
    has_parameters = any(map(is_parameters, cells))
    needed = {name for name, cell in known.items() if is_lost and is_script(cell)}
    needed |= {name for name, cell in known.items() if is_parameters(cell) and not has_parameters}
    if missing := [name for name in known if name in needed - found]:
        raise CourseKitError(
            f"{path} lacks {first_few(missing)}: none of its cells has that id, text or definition. "
            "Copy your answers into the notebook that the course gave you.",
            "notebook.cells-missing",
        )


def _released(path: Path, name: str) -> Mapping[str, Any] | None:
    """Return the notebook that the course released for a lab; `name` is the lab's name or its beginning."""
    for start in (path.parent, None):  # a downloaded notebook may be anywhere; then use the working folder
        with suppress(CourseKitError):
            root = find_root(start)
            for lab in matching([lab.name for lab in find_labs(root)], name):
                return _known(root, lab)
    return None


@cache
def _known(root: Path, lab: str) -> Mapping[str, Any] | None:
    kept = root / "labs" / lab / RELEASED
    if kept.is_file():
        notebook = json.loads(kept.read_text(encoding="utf-8"))
    elif not (root / SOLUTIONS).is_dir():
        return None  # a students' copy that was copied without its hidden files
    else:
        builder = import_module("coursekit.labs.build.build")  # a students' copy does not have it
        notebook = builder.source_notebook(load_lab(root / SOLUTIONS / lab))
    for cell in notebook["cells"]:
        source = cell["source"] = "".join(cell["source"])
        if HIDDEN_TESTS in source:
            cell["source"] = "\n".join(outside_regions(source))
    return notebook  # type: ignore[no-any-return]


def _name(cells: list[dict[str, Any]], known: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return each recognised cell with its name in the released notebook.

    A cell is recognised by its name or id, or otherwise by its text or by the names that it binds.
    """
    named = [(name, cell) for cell in cells if (name := _own_name(cell)) in known]
    for name, cell in named:
        cell.setdefault("id", name)
    others = [cell for cell in cells if _own_name(cell) not in known]
    for sign in (_text, _bound):
        for name, ours in known.items():
            wanted = sign(ours)
            found = [cell for cell in others if cell["cell_type"] == ours["cell_type"] and wanted <= sign(cell)]
            if wanted and len(found) == 1 and name not in {taken for taken, _ in named}:
                (cell,) = found
                cell["id"] = name
                others.remove(cell)
                named.append((name, cell))
    return named


def _own_name(cell: Mapping[str, Any]) -> str:
    return cell_name({"id": cell["metadata"].get("id"), **cell})  # Colab stores ids in the metadata


def _text(cell: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(filter(None, [cell["source"].strip()]))


def _bound(cell: Mapping[str, Any]) -> frozenset[str]:
    return names_of(cell["source"]).bound if cell["cell_type"] == "code" else frozenset()


def _number(notebook: dict[str, Any]) -> None:
    """Give each cell a unique id, as the notebook format requires."""
    taken: set[str] = set()
    for cell in notebook["cells"]:
        if not isinstance(cell.get("id"), str) or cell["id"] in taken:
            cell["id"] = uuid.uuid4().hex[:8]
        taken.add(cell["id"])
    notebook["nbformat"], notebook["nbformat_minor"] = FORMAT
