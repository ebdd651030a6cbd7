"""What of the kit a sandbox shows."""

from __future__ import annotations

import ast
from pathlib import Path

import coursekit
from coursekit.grading.judge.slot import INSIDE

PACKAGE = Path(coursekit.__file__).parent


def imported(path):
    """Return the parts of the kit that a module imports when it is imported itself."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module == "coursekit":
            names |= {f"coursekit.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return {name.split(".")[1] for name in names if name.startswith("coursekit.")}


def test_what_is_shown_needs_nothing_that_is_not():
    """Every module that is seen inside finds there what it imports."""
    shown = {name.removesuffix(".py") for name in INSIDE}
    modules = [
        path for name in INSIDE for path in ((PACKAGE / name).rglob("*.py") if "." not in name else [PACKAGE / name])
    ]

    missing = {path.relative_to(PACKAGE).as_posix(): imported(path) - shown - {"__version__"} for path in modules}

    assert {module: names for module, names in missing.items() if names} == {}
