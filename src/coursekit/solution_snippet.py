"""A piece of the solution for a student who is stuck: later sections can use it, but it earns no points.

The text of an exercise offers the piece in a folded section, encoded in base64, so that nobody reads it by accident.
A call to `take` is visible in the hand-in. Decoding the piece by hand is copying an answer, just like copying from any
other source.
"""

from __future__ import annotations

import base64
import linecache
import re
import sys
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from coursekit.errors import CourseKitError

JOINT = re.compile(r"""["']\s*\+?\s*["']""")  # text between the parts of a string that is written in several parts
WRAPPED = re.compile(r"[A-Za-z0-9_-]{40,}=*")

_taken: dict[str, tuple[dict[str, Any], Callable[..., Any]]] = {}  # by check: the notebook's names, and the piece


def wrap(checks: Sequence[str], source: str) -> str:
    """Return a function's source, and the checks that give no points for it, encoded as the argument of `take`."""
    return base64.urlsafe_b64encode("\n\n".join(["\n".join(checks), source]).encode()).decode()


def take(piece: str) -> Callable[..., Any]:
    """Return the function in a wrapped piece; it can use all names in the notebook that calls `take`.

    Raises:
        CourseKitError: the text is not a complete piece.
    """
    checks, source = _unwrap(piece)
    if not source:
        raise CourseKitError(
            "this is not a complete piece of a solution: copy all its lines from the exercise's text.", "piece.damaged"
        )
    names = sys._getframe(1).f_globals  # noqa: SLF001  # the notebook's
    found: dict[str, Callable[..., Any]] = {}
    exec(compile(source, "<piece of the solution>", "exec"), names, found)  # noqa: S102  # the course's own
    (function,) = found.values()
    _taken.update(dict.fromkeys(checks, (names, function)))
    return function


def is_taken(check: str) -> bool:
    """Return whether a piece for which this check gives no points was taken and is still in the notebook.

    The result is also true if the student's own answer follows the piece in the same cell, because the judge, too,
    searches the source of cells for pieces.
    """
    names, piece = _taken.get(check, ({}, None))
    functions = [value for value in names.values() if isinstance(value, FunctionType)]
    cells = {one: "".join(linecache.getlines(one.__code__.co_filename)) for one in functions}  # where they are
    return any(one is piece or check in checks_of_pieces(cell) for one, cell in cells.items())


def checks_of_pieces(source: str) -> set[str]:
    """Return the checks that give no points because a cell's source contains a piece for them outside of comments."""
    text = "\n".join(line.partition("#")[0] for line in source.splitlines())
    return {check for piece in WRAPPED.findall(JOINT.sub("", text)) for check in _unwrap(piece)[0]}


def _unwrap(piece: str) -> tuple[list[str], str]:
    """Return the checks and the source in a wrapped piece; both are empty if the text is not such a piece."""
    try:
        checks, _, source = base64.urlsafe_b64decode(piece).decode().partition("\n\n")
    except ValueError:
        return [], ""
    return checks.splitlines() if source else [], source
