"""Whether a student's notebook is ready for a job: one that stops at a missing answer has waited for nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from coursekit.errors import CourseKitError
from coursekit.labs.build.regions import CODE_STUB
from coursekit.labs.build.twin import is_script

if TYPE_CHECKING:
    from pathlib import Path


def check_answers(root: Path, lab: str, *, only_script: bool = False) -> Path:
    """Return a student's notebook of a lab when all its code answers are there.

    Args:
        root: the course checkout.
        lab: the lab's name.
        only_script: whether only the cells of the lab's script count.

    Raises:
        CourseKitError: the notebook cannot be read, is not of this lab, or answers are missing.
    """
    path = root / "labs" / lab / f"{lab}.ipynb"
    shown = path.relative_to(root)
    cells = [cell for cell in _cells(path, str(shown), lab) if not only_script or is_script(cell)]
    if only_script and not cells:
        raise CourseKitError(f"the lab {lab} has no script: submit it without --train.")
    missing = [_name(cell) for cell in cells if cell["cell_type"] == "code" and CODE_STUB in cell["source"]]
    if missing:
        raise CourseKitError(f"{shown} has no answer yet in {', '.join(missing)}: write them first, then submit.")
    return path


def _cells(path: Path, shown: str, lab: str) -> list[dict[str, Any]]:
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells: list[dict[str, Any]] = notebook["cells"]
        for cell in cells:
            cell["source"] = "".join(cell["source"])  # one text, or a list of lines
            cell["metadata"].get("tags", ())
        made_from = str(notebook["metadata"].get("coursekit", {}).get("generated_from", f"{lab}/"))
    except OSError as error:
        raise CourseKitError(
            f"{shown} cannot be read ({error.strerror}): jobs run the notebook of that name."
        ) from None
    except (ValueError, LookupError, TypeError, AttributeError):
        raise CourseKitError(
            f"{shown} is not a notebook: get it back from the course and write your answers."
        ) from None
    if f"{lab}/" not in made_from:
        raise CourseKitError(f"{shown} is the notebook of another lab ({made_from}): put the right one there.")
    return cells


def _name(cell: dict[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id") or cell.get("id", "a cell without a name"))
