"""A piece of the solution for a student who is stuck: later sections can use it, but it gives no points.

The text of an exercise offers its piece folded away, and in a form that nobody reads by accident: in base64.
A student who decodes it by hand has copied an answer, as from anywhere else; the call of `take` shows in the hand-in.
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

JOINT = re.compile(r"""["']\s*\+?\s*["']""")  # of a text that is written in parts
WRAPPED = re.compile(r"[A-Za-z0-9_-]{40,}=*")

_taken: dict[str, tuple[dict[str, Any], Callable[..., Any]]] = {}  # by check, the notebook's names and the piece


def wrap(checks: Sequence[str], source: str) -> str:
    """Return what `take` takes: the source of a function, and the names of the checks that give no points for it."""
    return base64.urlsafe_b64encode("\n\n".join(["\n".join(checks), source]).encode()).decode()


def take(piece: str) -> Callable[..., Any]:
    """Return the function of a wrapped piece; it finds other pieces by name where this is called, as if written there.

    Raises:
        CourseKitError: the text is not a whole piece.
    """
    checks, source = _unwrap(piece)
    if not source:
        raise CourseKitError(
            "this is no piece of a solution: copy all lines from the exercise's text.", "piece.damaged"
        )
    names = sys._getframe(1).f_globals  # noqa: SLF001  # the notebook's
    found: dict[str, Callable[..., Any]] = {}
    exec(compile(source, "<piece of the solution>", "exec"), names, found)  # noqa: S102  # the course's own
    (function,) = found.values()
    _taken.update(dict.fromkeys(checks, (names, function)))
    return function


def is_taken(check: str) -> bool:
    """Return whether what this check looks at is a piece that was taken, and still stands in the notebook.

    That is so, too, where an answer of one's own stands below it in one cell: the judge sees the hand-in's source.
    """
    names, piece = _taken.get(check, ({}, None))
    functions = [value for value in names.values() if isinstance(value, FunctionType)]
    cells = {one: "".join(linecache.getlines(one.__code__.co_filename)) for one in functions}  # that define them
    return any(one is piece or check in checks_of_pieces(cell) for one, cell in cells.items())


def checks_of_pieces(source: str) -> set[str]:
    """Return the checks that give no points, since a piece of theirs stands in this source outside of comments."""
    text = "\n".join(line.partition("#")[0] for line in source.splitlines())
    return {check for piece in WRAPPED.findall(JOINT.sub("", text)) for check in _unwrap(piece)[0]}


def _unwrap(piece: str) -> tuple[list[str], str]:
    """Return the checks and the source that a text holds; nothing where it is only a long name."""
    try:
        checks, _, source = base64.urlsafe_b64decode(piece).decode().partition("\n\n")
    except ValueError:
        return [], ""
    return checks.splitlines() if source else [], source
