"""The script twin of a lab with a student's own answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursekit.errors import CourseKitError
from coursekit.labs.build.regions import CODE_STUB
from coursekit.labs.build.script_cells import TwinError
from coursekit.labs.build.twin import check_twin, is_script, twin_text
from coursekit.labs.lab import NAME, select_labs
from coursekit.paths import find_root

if TYPE_CHECKING:
    from collections.abc import Mapping


def find_notebook(lab: str) -> Path:
    """Return the notebook of a lab, given by its name or the beginning of it: in this folder, else in labs/.

    Raises:
        CourseKitError: no script fits the name, or several do.
    """
    here = [path for path in sorted(Path().glob("*.ipynb")) if NAME.fullmatch(path.stem) and path.stem.startswith(lab)]
    if len(here) == 1:
        return here[0]
    root = find_root()
    name = select_labs(root, [lab])[0].name
    return root / "labs" / name / f"{name}.ipynb"


def read_notebook(path: Path, lab: str) -> dict[str, Any]:
    """Return a student's notebook.

    Raises:
        CourseKitError: no such notebook, it belongs to another lab, or that lab has no script.
    """
    try:
        notebook = parse_notebook(path)
        name = notebook["metadata"]["coursekit"]["generated_from"].split("/")[-2]
    except OSError as error:
        raise CourseKitError(f"{path} cannot be read ({error.strerror}): name your notebook after the lab.") from None
    except (ValueError, LookupError, TypeError, AttributeError):
        raise CourseKitError(f"{path} is not a notebook of this course: name yours after the lab.") from None
    if not name.startswith(lab):
        raise CourseKitError(f"{path} is the notebook of the lab {name}, not of {lab}: name the right one.")
    if not any(is_script(cell) for cell in notebook["cells"]):
        raise CourseKitError(f"the lab {name} has no script: its notebook is all there is to run.")
    return notebook


def parse_notebook(path: Path) -> dict[str, Any]:
    """Return a notebook whose cells may be read without further checks.

    Raises:
        OSError: the file cannot be read.
        ValueError, LookupError, TypeError, AttributeError: it is not a notebook.
    """
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])  # one text, or a list of lines
        cell["metadata"].get("tags", ())
    return notebook


def answered_twin(notebook: Mapping[str, Any], path: Path, lab: str, file_name: str, *, allow_unanswered: bool) -> str:
    """Return the text of the twin with a student's answers.

    Raises:
        CourseKitError: answers are missing and may not be, or the script's cells make no program.
    """
    missing = [_name(cell) for cell in notebook["cells"] if is_script(cell) and CODE_STUB in cell["source"]]
    if missing and not allow_unanswered:
        raise CourseKitError(
            f"{path} has no answer yet in {', '.join(missing)}: write them first, or add --allow-unanswered."
        )
    made = f"Made by `coursekit script {lab}` from {path.name}: change the notebook, then make it again."
    try:
        if not missing:  # a stub may stand where a name would be defined
            check_twin(notebook)
        return twin_text(notebook, made, "answers", file_name)
    except TwinError as error:
        raise CourseKitError(f"{path}, cell {_name(error.cell)}: {error}.") from None


def _name(cell: Mapping[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id") or cell.get("id", "without a name"))
