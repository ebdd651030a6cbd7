"""Errors that users see as a message instead of a traceback."""

from __future__ import annotations

import re
from typing import NamedTuple

from coursekit.text import wrapped

A_CODE = r"[a-z][a-z0-9-]*\.[a-z][a-z0-9-]*"  # never a number such as 0.5
CODE = re.compile(rf"\[({A_CODE})\]")
STUB = "your answer goes here"  # the text of the NotImplementedError in an answer that is not written yet


class Cause(NamedTuple):
    """One cause in a table: a sentence about it, and its code; as text, "The rate is not scaled [rate.not-scaled]"."""

    words: str
    code: str

    def __str__(self) -> str:
        return f"{self.words} [{self.code}]"


class ShownAsMessage(Exception):  # noqa: N818  # not an error by itself
    """An exception for which notebooks show only the message.

    The frames between the student's cell and the place where it was raised belong to the kit and explain nothing.
    Its code names the cause, however it is worded: tests, answer banks and requests for help refer to the code.
    The code ends the message, so that it survives the way out of a rank or a sandbox:
    ``ShownAsMessage("Ranks share sample 3.", "shards.overlap")`` reads "Ranks share sample 3. [shards.overlap]".
    """

    def __init__(self, message: str = "", code: str = "") -> None:
        super().__init__(f"{message} [{code}]" if code else message)
        self.code = code or next(iter(codes_in(message)[-1:]), "")  # a message that quotes another takes its code

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback."""
        return [wrapped(f"{type(self).__name__}: {self}")]


def without_codes(message: str) -> str:
    """Return a message without codes, to quote it in another message: "It hangs [ranks.hang]" becomes "It hangs"."""
    return re.sub(rf" *{CODE.pattern}", "", message)


def codes_in(message: str) -> list[str]:
    """Return the codes in a message, in their order."""
    return CODE.findall(message)


class CourseKitError(ShownAsMessage):
    """An error that the user can fix: the message says what was wrong, where, and what to do."""


class Interrupted(KeyboardInterrupt):
    """Raised for the stop button or Ctrl-C; notebooks show only its message, which says what was stopped."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback."""
        return [wrapped(f"{KeyboardInterrupt.__name__}: {self}")]
