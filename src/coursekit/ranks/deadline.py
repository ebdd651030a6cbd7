"""A deadline in the own time of some processes; when the machine is too slow to come to it, nothing is known."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.ranks.own_time import TICK_S, OwnTime, longest_wall_s, tree

if TYPE_CHECKING:
    from collections.abc import Callable


class TooSlowError(CourseKitError):
    """The last resort on the wall has passed, and the deadline has not: what was waited for needs another run."""


class Deadline:
    """A deadline that no busy machine brings nearer.

    Args:
        timeout_s: seconds of own time from now.
        own_s: returns the own time that has passed, as `OwnTime.tick`; slower than the wall, never faster.
    """

    def __init__(self, timeout_s: float, own_s: Callable[[], float]) -> None:
        self._timeout_s = timeout_s
        self._own_s = own_s
        self._started_own_s = own_s()
        self._started_s = time.monotonic()
        self._look_s = self._started_s + min(timeout_s, TICK_S)

    def left_s(self) -> float:
        """Return how long to wait before the next look, in seconds on the wall; 0 when the deadline has passed.

        Raises:
            TooSlowError: the machine gave the processes next to no time.
        """
        now_s = time.monotonic()
        if now_s < self._look_s:  # callers ask often, and a look is expensive
            return self._look_s - now_s
        left_s = self._timeout_s - (self._own_s() - self._started_own_s)
        if left_s <= 0:
            return 0.0
        longest_s = longest_wall_s(self._timeout_s)
        if now_s - self._started_s > longest_s:
            raise TooSlowError(
                f"the machine was too slow or too busy: in {longest_s:.0f} s what ran had less than "
                f"{self._timeout_s:g} s for itself"
            )
        self._look_s = now_s + min(left_s, TICK_S)
        return min(left_s, TICK_S)


def start_up(timeout_s: float) -> Deadline:
    """Return a deadline for what this process has started: in the own time of it and of all below it."""
    return Deadline(timeout_s, OwnTime(lambda: tree(os.getpid())).tick)
