"""`coursekit script`: write the training script of a lab with the student's own answers in it."""

from pathlib import Path

import click

from coursekit.cli.shared import LAB
from coursekit.errors import CourseKitError
from coursekit.files import write_if_changed
from coursekit.labs.build.script import SCRIPT_NAME, answered_script, kind_of
from coursekit.labs.lab import select_labs
from coursekit.labs.students_notebook import read_notebook
from coursekit.paths import find_root


@click.command(epilog="Example: coursekit script 03, then horovodrun -np 2 python labs/03-keras-cnn/train.py")
@LAB
@click.argument("notebook", required=False, type=click.Path(path_type=Path))
@click.option(
    *("-o", "--output"),
    metavar="FILE",
    type=click.Path(path_type=Path),
    help=f"File to write.  [default: {SCRIPT_NAME} beside the notebook]",
)
def script(lab: str, notebook: Path | None, output: Path | None) -> None:
    """Turn your NOTEBOOK for LAB into a training script with your answers.

    A launcher such as srun or horovodrun starts the script on many ranks.
    The script has an option for each parameter of the notebook.
    By default, NOTEBOOK is the lab's notebook in the current folder or, if there is none, in labs/.
    The command replaces an earlier script, but only if coursekit generated it and nobody has edited it since.
    """
    # Take the file with the shortest name, because Jupyter adds "-Copy1" to the names of duplicates.
    path = notebook or min(Path().glob(f"{lab.zfill(2)}*.ipynb"), key=lambda path: len(path.name), default=None)
    if path is None:
        root = find_root()
        name = select_labs(root, [lab])[0].name
        path = root / "labs" / name / f"{name}.ipynb"
    content = read_notebook(path, lab)
    target = output or path.with_name(SCRIPT_NAME)
    former = kind_of(target)
    if target.exists() and not former:
        raise CourseKitError(
            f"{target} was not made by coursekit, or someone has edited it: move it away.", "script.edited"
        )
    made = f"Made by `coursekit script {lab}` from {path.name}: change the notebook, then make it again."
    text = answered_script(content, path, made)
    replaced = ", in place of the one without answers" if former == "release" else ""
    write_if_changed(target, text.encode(), lambda verdict, _: click.echo(f"{verdict} {target}{replaced}"))
