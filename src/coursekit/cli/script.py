"""`coursekit script`: the script twin with a student's own answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coursekit.errors import CourseKitError
from coursekit.labs.build.generated import write_if_changed
from coursekit.labs.build.script_cells import TwinError
from coursekit.labs.build.stubs import CODE_STUB
from coursekit.labs.build.twin import TWIN_NAME, check_twin, is_script, twin_text
from coursekit.labs.build.twin_mark import kind_of
from coursekit.labs.lab import NAME, select_labs
from coursekit.paths import find_root

if TYPE_CHECKING:
    from collections.abc import Mapping


@click.command(epilog="Example: coursekit script 03, then horovodrun -np 2 python labs/03-keras-cnn/train.py")
@click.argument("lab")
@click.argument("notebook", required=False, type=click.Path(path_type=Path))
@click.option("--output", type=click.Path(path_type=Path), help=f"Where to write it; by default {TWIN_NAME} beside it.")
@click.option("--allow-unanswered", is_flag=True, help="Write the script although answers are missing.")
def script(lab: str, notebook: Path | None, output: Path | None, allow_unanswered: bool) -> None:
    """Write the script of a LAB with the answers of your NOTEBOOK.

    A launcher starts it on many ranks, and every parameter of the notebook is an option of it.
    By default the notebook is that of the lab in the current folder, else the one in labs/.
    A script that was made before is replaced; one that somebody edited is not.
    """
    path = notebook or find_notebook(lab)
    content = read_notebook(path, lab)
    target = output or path.with_name(TWIN_NAME)
    former = _former_kind(target)
    text = answered_twin(content, path, lab, target.name, allow_unanswered=allow_unanswered)
    try:
        write_if_changed(target, text.encode(), lambda verdict, _: click.echo(f"{verdict} {target}{_replaced(former)}"))
    except OSError as error:
        raise CourseKitError(f"{target} cannot be written ({error.strerror}): choose another with --output.") from None


def find_notebook(lab: str) -> Path:
    """Return the notebook of a lab, given by its name or the beginning of it: in this folder, else in labs/.

    Raises:
        CourseKitError: there is none, or the name fits several.
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
        CourseKitError: there is none, it belongs to another lab, or that lab has no script.
    """
    try:
        notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])  # one text, or a list of lines
            cell["metadata"].get("tags", ())
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


def _former_kind(target: Path) -> str:
    """Return what a script that is there already holds, '' when there is none."""
    if not target.exists():
        return ""
    kind = kind_of(target) if target.is_file() else ""
    if not kind:
        raise CourseKitError(
            f"{target} was not made by coursekit, or somebody edited it: move it away, or choose another with --output."
        )
    return kind


def _replaced(former: str) -> str:
    return {"release": ", in place of the one without answers"}.get(former, "")


def _name(cell: Mapping[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id") or cell.get("id", "without a name"))
