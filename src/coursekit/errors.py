"""Errors that users see as a message instead of a traceback."""

from __future__ import annotations

from coursekit.text import wrapped

STUB = "your answer goes here"  # what NotImplementedError says where a student has not written an answer yet


class ShownAsMessage(Exception):  # noqa: N818  # no error by itself
    """An exception of which notebooks show the message alone.

    The frames between the student's cell and the place where it was raised are the kit's own and explain nothing.
    """

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback."""
        return [wrapped(f"{type(self).__name__}: {self}")]


class CourseKitError(ShownAsMessage):
    """Something the user can fix: the message says what was wrong, where, and what to do."""


class Interrupted(KeyboardInterrupt):
    """The stop button or Ctrl-C, with words on what was stopped; notebooks show them alone."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback."""
        return [wrapped(f"{KeyboardInterrupt.__name__}: {self}")]
