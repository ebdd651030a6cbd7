"""`coursekit script`: the script twin with a student's own answers."""

from __future__ import annotations

from pathlib import Path

import click

from coursekit.errors import CourseKitError
from coursekit.files import write_if_changed
from coursekit.labs.build.answered_twin import answered_twin, find_notebook, read_notebook
from coursekit.labs.build.twin import TWIN_NAME, kind_of


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
    replaced = ", in place of the one without answers" if _former_kind(target) == "release" else ""
    text = answered_twin(content, path, lab, target.name, allow_unanswered=allow_unanswered)
    try:
        write_if_changed(target, text.encode(), lambda verdict, _: click.echo(f"{verdict} {target}{replaced}"))
    except OSError as error:
        raise CourseKitError(f"{target} cannot be written ({error.strerror}): choose another with --output.") from None


def _former_kind(target: Path) -> str:
    """Return the kind of a script that exists already; '' if no script exists."""
    if not target.exists():
        return ""
    kind = kind_of(target) if target.is_file() else ""
    if not kind:
        raise CourseKitError(
            f"{target} was not made by coursekit, or somebody edited it: move it away, or choose another with --output."
        )
    return kind
