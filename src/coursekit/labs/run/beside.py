"""Copy the files next to a student's notebook, such as modules and data, to the folder in which its copy will run."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from coursekit.labs.run.jobs_folder import JOBS_FOLDER
from coursekit.labs.students_notebook import RELEASED

BY_PRODUCTS = (".ipynb_checkpoints", "__pycache__", ".git")
OTHERS = (JOBS_FOLDER, RELEASED)  # the results of jobs that were submitted here, and the released notebook
MAX_BYTES = 1_000_000_000  # of a file or folder; anything bigger is a data set, or checkpoints of an earlier run
BYTES_PER_GB = 1e9
NO_PLACE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)  # no copy can succeed


def copy_beside(notebook: Path, folder: Path) -> tuple[str, ...]:
    """Copy everything next to a notebook into a folder, creating it if needed; return what was left out, and why.

    A link to a folder or to a big file becomes a link to the same target, because the target may be a data set.
    """
    folder.mkdir(parents=True, exist_ok=True)
    left_out: list[str] = []
    for path in sorted(notebook.parent.iterdir()):
        if path == notebook or path.name in {*BY_PRODUCTS, *OTHERS}:
            continue
        num_bytes = _num_bytes(path)
        if num_bytes > MAX_BYTES:
            left_out.append(f"{path.name} ({num_bytes / BYTES_PER_GB:.1f} GB)")
        else:
            left_out += _copy(path, folder / path.name, path.name)
    return tuple(os.fsencode(one).decode(errors="replace") for one in left_out)  # a file name may not be valid text


def _copy(path: Path, target: Path, name: str) -> Iterator[str]:
    try:
        if path.is_symlink() and path.exists() and (path.is_dir() or path.stat().st_size > MAX_BYTES):
            target.symlink_to(path.resolve())
        elif path.is_dir():
            target.mkdir()
            for inner in sorted(path.iterdir()):
                if inner.name not in BY_PRODUCTS:
                    yield from _copy(inner, target / inner.name, f"{name}/{inner.name}")
        elif path.is_file():
            shutil.copy2(path, target)
        else:
            yield f"{name} ({'a link that leads nowhere' if path.is_symlink() else 'no file'})"
    except OSError as error:
        if error.errno in NO_PLACE:
            raise
        yield f"{name} ({error.strerror})"


def _num_bytes(path: Path) -> int:
    """Return the size of a file, or of everything below a folder; for a link, the size of the link itself."""
    below = [Path(folder, name) for folder, _, names in os.walk(path) for name in names if not path.is_symlink()]
    num_bytes = 0
    for one in [path, *below]:
        with suppress(OSError):
            num_bytes += one.lstat().st_size
    return num_bytes
