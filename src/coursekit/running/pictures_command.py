"""`coursekit pictures`: take the pictures that the README shows from the newest run of the solutions."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import click
import nbformat

from coursekit.building.tables import picture_file
from coursekit.errors import CourseKitError
from coursekit.labs import find_labs
from coursekit.paths import find_root

if TYPE_CHECKING:
    from pathlib import Path

    from coursekit.labs import Lab


@click.command(epilog="Example: coursekit run && coursekit pictures")
def pictures() -> None:
    """Keep one picture of each lab in docs/pictures/, out of the notebooks that the newest `coursekit run` executed.

    Which cell's picture it is, the key `picture` of the lab's lab.toml says.
    """
    root = find_root()
    for lab in find_labs(root):
        if lab.picture:
            path = picture_file(root, lab)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(picture_of(root, lab))
            click.echo(path.relative_to(root).as_posix())


def picture_of(root: Path, lab: Lab) -> bytes:
    """Return the last PNG of the lab's chosen cell in the newest run.

    Raises:
        CourseKitError: there is no run of this lab, or the cell shows no picture.
    """
    executed = root / "build" / "runs" / "latest" / lab.name / f"{lab.name}.ipynb"
    if not executed.is_file():
        raise CourseKitError(f"the newest run has no notebook of {lab.name}: run `coursekit run` first.")
    cells = [cell for cell in nbformat.read(executed, as_version=4).cells if cell.id == lab.picture]
    shown = [
        output.data["image/png"] for cell in cells for output in cell.outputs if "image/png" in output.get("data", {})
    ]
    if not shown:
        raise CourseKitError(f"solutions/{lab.name}/lab.toml: the cell picture = {lab.picture!r} shows no picture.")
    return base64.b64decode(shown[-1])
