"""`coursekit students-copy`: write the folder that an instructor publishes for students."""

from pathlib import Path

import click

from coursekit.labs.build.students_copy import students_files, write_copy
from coursekit.paths import find_root


@click.command("students-copy", epilog="Example: coursekit students-copy ../course-for-students")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def students_copy(folder: Path) -> None:
    """Write the students' copy of the course to DIR, ready to publish.

    It contains the labs, the job scripts, and the students' pages and commands, but no answers or hidden tests.
    DIR may be a new folder, a folder that contains only .git, or an earlier copy, which is updated.
    Then commit and push the folder.
    """
    root = find_root()
    files = students_files(root)
    num_written = write_copy(root, files, folder)
    click.echo(f"{folder}: {len(files)} files, {num_written} of them new or changed; no answers, no hidden tests.")
