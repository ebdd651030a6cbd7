"""Wait, with retries, for services that may be unavailable for a while, such as a file system, a database or Slurm."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from coursekit.errors import CourseKitError

T = TypeVar("T")


class AwayError(CourseKitError):
    """A service is unavailable but may become available again, so code that can wait should retry."""


class Attempts:
    """Makes attempts to use a service; calls `say` once if the service is unavailable, and once when it works again."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._is_away = say, False

    def attempt(self, step: Callable[[], T]) -> T | None:
        """Return the result of `step`, or None if it raises an `AwayError` or an `OSError`; raise any other error."""
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
