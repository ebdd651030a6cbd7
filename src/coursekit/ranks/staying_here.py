"""The ranks that stay in this process, one set at most: started, found again, given variables, stopped."""

from __future__ import annotations

import atexit
import os
from typing import Any

from coursekit.ranks.errors import RankError
from coursekit.ranks.staying import StayingRanks

NO_RANKS = "no ranks stay: start some with `%ranks start -n 2`, or in Python with `ranks.start(2)`"
_current: list[StayingRanks] = []


def start(num_ranks: int = 2, **settings: Any) -> StayingRanks:
    """Start ranks that stay, in place of those that stayed before; settings are those of `StayingRanks`."""
    stop()
    _current.append(StayingRanks(num_ranks, **settings))
    return _current[-1]


def started() -> StayingRanks | None:
    """Return the ranks that were started last and not stopped, if there are any; they may have been ended since."""
    return _current[-1] if _current else None


def required() -> StayingRanks:
    """Return the ranks that stay.

    Raises:
        RankError: there are none.
    """
    if not _current:
        raise RankError(NO_RANKS)
    return _current[-1]


def push(**values: Any) -> None:
    """Give the ranks that stay variables by these names: plain data, arrays, functions."""
    required().cell(_update, values)


def pull(name: str) -> list[Any]:
    """Return the variable of this name from every rank that stays."""
    return required().cell(_get, name)


def stop() -> None:
    """End the ranks that stay, if there are any."""
    while _current:
        _current.pop().stop()


def _update(namespace: dict[str, Any], values: dict[str, Any]) -> None:
    namespace.update(values)


def _get(namespace: dict[str, Any], name: str) -> Any:
    if name not in namespace:
        raise NameError(f"name {name!r} is not defined on this rank")
    return namespace[name]


atexit.register(stop)
# A forked child gives up its copies of the sockets: only then does the server notice the parent's end.
os.register_at_fork(after_in_child=stop)
