"""Errors that users see as a message instead of a traceback."""

from __future__ import annotations

import re
from typing import NamedTuple

from coursekit.text import wrapped

A_CODE = r"[a-z][a-z0-9-]*\.[a-z][a-z0-9-]*"  # does not match a number such as 0.5
CODE = re.compile(rf"\[({A_CODE})\]")
STUB = "your answer goes here"  # the text of the NotImplementedError in an answer that is not written yet


class Cause(NamedTuple):
    """A cause of an error: a sentence and a code; `str` returns both: "The rate is not scaled [rate.not-scaled]"."""

    words: str
    code: str

    def __str__(self) -> str:
        return f"{self.words} [{self.code}]"


class ShownAsMessage(Exception):  # noqa: N818  # not an error by itself
    """An exception for which notebooks show only the message.

    The stack frames between the student's cell and the line that raised the exception belong to the kit and explain
    nothing.
    The exception's code identifies the cause even if the wording of the message changes, so tests, answer banks and
    requests for help refer to the code.
    The code is part of the message, so it is not lost when a rank or a sandbox passes the message on:
    ``ShownAsMessage("Ranks share sample 3.", "shards.overlap")`` reads "Ranks share sample 3. [shards.overlap]".
    """

    def __init__(self, message: str = "", code: str = "") -> None:
        super().__init__(f"{message} [{code}]" if code else message)
        self.code = code or next(iter(codes_in(message)[-1:]), "")  # a quoted message keeps its code

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback."""
        return [wrapped(f"{type(self).__name__}: {self}")]


def without_codes(message: str) -> str:
    """Return a message without its codes, so that it can be quoted: "It hangs [ranks.hang]" becomes "It hangs"."""
    return re.sub(rf" *{CODE.pattern}", "", message)


def codes_in(message: str) -> list[str]:
    """Return the codes in a message, in order."""
    return CODE.findall(message)


class CourseKitError(ShownAsMessage):
    """An error that the user can fix: the message says what is wrong, where, and what to do."""


class Interrupted(KeyboardInterrupt):
    """Raised when a user presses the stop button or Ctrl-C; notebooks show only its message, not a traceback."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback."""
        return [wrapped(f"{KeyboardInterrupt.__name__}: {self}")]
