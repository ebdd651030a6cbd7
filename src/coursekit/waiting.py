"""Wait, with retries, for services that may be unavailable for a while, such as a file system, a database or Slurm."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from coursekit.errors import CourseKitError

T = TypeVar("T")


class AwayError(CourseKitError):
    """Something is unavailable, but may become available again: code that can wait should retry."""


class Attempts:
    """Makes repeated attempts; reports once that something is unavailable, and once that it is available again."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._is_away = say, False

    def attempt(self, step: Callable[[], T]) -> T | None:
        """Return the result of a step, or None if something is unavailable; any other error is raised."""
        try:
            found = step()
        except (AwayError, OSError) as error:
            if not self._is_away:
                self._is_away = True
                self._say(f"{_sentence(error)} Still trying.")
            return None
        if self._is_away:
            self._is_away = False
            self._say("It works again.")
        return found


def _sentence(error: AwayError | OSError) -> str:
    if isinstance(error, AwayError):
        return f"{error}".rstrip(".") + "."
    where = f"{error.filename} cannot be used" if error.filename else "a file cannot be used"
    return f"{where} ({error.strerror or type(error).__name__})."
