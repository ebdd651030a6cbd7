"""Errors that users see as a message instead of a traceback."""

from __future__ import annotations

import re
from typing import NamedTuple

from coursekit.text import wrapped

A_CODE = r"[a-z][a-z0-9-]*\.[a-z][a-z0-9-]*"  # no number, as 0.5
CODE = re.compile(rf"\[({A_CODE})\]")
STUB = "your answer goes here"  # what NotImplementedError says where a student has not written an answer yet


class Cause(NamedTuple):
    """A cause of a table: what is said of it, and its code; as text "The rate is not scaled [rate.not-scaled]"."""

    words: str
    code: str

    def __str__(self) -> str:
        return f"{self.words} [{self.code}]"


class ShownAsMessage(Exception):  # noqa: N818  # no error by itself
    """An exception of which notebooks show the message alone.

    The frames between the student's cell and the place where it was raised are the kit's own and explain nothing.
    Its code names the cause, whatever the sentence says: tests, answer banks and those who ask for help name it.
    It ends the message, so that it survives the way from a rank or a sandbox:
    ``ShownAsMessage("Ranks share sample 3.", "shards.overlap")`` says "Ranks share sample 3. [shards.overlap]".
    """

    def __init__(self, message: str = "", code: str = "") -> None:
        super().__init__(f"{message} [{code}]" if code else message)
        self.code = code or next(iter(codes_in(message)[-1:]), "")  # a message that quotes another has its code

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback."""
        return [wrapped(f"{type(self).__name__}: {self}")]


def without_codes(message: str) -> str:
    """Return a message to be quoted in one that has a code of its own: "It hangs [ranks.hang]" is "It hangs"."""
    return re.sub(rf" *{CODE.pattern}", "", message)


def codes_in(message: str) -> list[str]:
    """Return the codes that a message holds, in its order."""
    return CODE.findall(message)


class CourseKitError(ShownAsMessage):
    """Something the user can fix: the message says what was wrong, where, and what to do."""


class Interrupted(KeyboardInterrupt):
    """The stop button or Ctrl-C, with words on what was stopped; notebooks show them alone."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback."""
        return [wrapped(f"{KeyboardInterrupt.__name__}: {self}")]
