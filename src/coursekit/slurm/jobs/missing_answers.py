"""Check that a student's notebook has all its answers, before it waits in the queue only to stop at a missing one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coursekit.errors import CourseKitError
from coursekit.labs.build.answered_twin import parse_notebook
from coursekit.labs.build.regions import CODE_STUB
from coursekit.labs.build.twin import is_script

if TYPE_CHECKING:
    from pathlib import Path


def check_answers(root: Path, lab: str, *, only_script: bool = False) -> Path:
    """Return where a student's notebook is, if all its code answers are there, or those of the lab's script.

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
        notebook = parse_notebook(path)
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
    cells: list[dict[str, Any]] = notebook["cells"]
    return cells


def _name(cell: dict[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id") or cell.get("id", "a cell without a name"))
