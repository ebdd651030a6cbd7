"""Which ranks a check has looked at: each launch is noted, and noted again where a trial that ran before is used."""

from __future__ import annotations

from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Callable, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

Layout = tuple[int, int]  # how many ranks, on how many nodes
Made = TypeVar("Made")

_noted: list[Layout] = []


def note(num_ranks: int, ranks_per_node: int) -> None:
    """Note a launch."""
    _noted.append((num_ranks, -(-num_ranks // ranks_per_node)))


@contextmanager
def noting() -> Iterator[set[Layout]]:
    """Give a set that has, after the block, the launches that were looked at in it."""
    first, layouts = len(_noted), set[Layout]()
    try:
        yield layouts
    finally:
        layouts.update(_noted[first:])


def once(make: Callable[[int], Made]) -> Callable[[int], Made]:
    """Return a function that makes a trial on a number of ranks once, and notes its launches at each use."""
    made: dict[int, tuple[Made, list[Layout]]] = {}

    @wraps(make)
    def found(num_ranks: int) -> Made:
        if num_ranks in made:
            _noted.extend(made[num_ranks][1])
        else:
            first = len(_noted)
            made[num_ranks] = make(num_ranks), _noted[first:]
        return made[num_ranks][0]

    return found
