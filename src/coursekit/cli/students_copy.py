"""`coursekit students-copy`."""

from __future__ import annotations

from pathlib import Path

import click

from coursekit.paths import find_root


@click.command("students-copy", epilog="Example: coursekit students-copy ../course-for-students")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def students_copy(folder: Path) -> None:
    """Write the folder to publish for students into DIR: labs, job scripts and the package, without the answers.

    DIR is new, empty but for .git, or a copy made before, which is brought up to date; then commit and push it.
    """
    from coursekit.labs.build.students_copy import students_files, write_copy  # noqa: PLC0415  # brings nbgrader with it

    root = find_root()
    files = students_files(root)
    num_written = write_copy(root, files, folder)
    click.echo(f"{folder}: {len(files)} files, {num_written} of them new or changed; no answers, no hidden tests.")
