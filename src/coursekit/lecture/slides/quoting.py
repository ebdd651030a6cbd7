"""Quote lines of a file of the repository in a deck: what people see on a slide is what they submit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError

if TYPE_CHECKING:
    from pathlib import Path

COMMENT = re.compile(r"\s+#\s.*$")


def quoted_lines(root: Path, name: str, *starts: str, comments: bool = True) -> str:
    """Return the lines of a file that begin with one of `starts`, in the file's order; all lines without any.

    Args:
        root: the course checkout.
        name: the file's path in it, such as `slurm/jobs/karolina/02-horovod-sgd.sbatch`.
        starts: what lines begin with, such as `#SBATCH --nodes`.
        comments: whether words after the code of a line, behind a #, are quoted, too.

    Raises:
        CourseKitError: there is no such file in the checkout, or some beginning has no line.
    """
    path = root / name
    if not path.is_file() or ".." in path.parts or not path.is_relative_to(root):
        raise CourseKitError(f"there is no file {name} to quote.")
    lines = path.read_text(encoding="utf-8").splitlines()
    for start in starts:
        if not any(line.startswith(start) for line in lines):
            raise CourseKitError(f"{name} has no line that begins with {start!r}.")
    picked = [line for line in lines if line.startswith(starts or ("",))]
    return "\n".join(picked if comments else [COMMENT.sub("", line) for line in picked])
