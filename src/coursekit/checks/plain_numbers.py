"""What answers return, as plain numbers: an answer may return anything, and a check compares numbers only."""

from __future__ import annotations

import reprlib
from inspect import isroutine
from typing import Any

import numpy as np

from coursekit.checks.check import CheckError, require

Array = np.ndarray[Any, Any]

NO_NUMBERS = (type(None), str, bytes)  # NumPy would turn these into numbers


class _Rounded(reprlib.Repr):
    """Short texts with rounded numbers; `reprlib` finds a method by the name of a value's type."""

    def repr_float(self, value: float, _level: int) -> str:
        return f"{value:.6g}"

    repr_float32 = repr_float64 = repr_float

    def repr_ndarray(self, value: Array, level: int) -> str:
        return f"array({self.repr1(value.tolist(), level)})"


_SHORT = _Rounded()


def told(value: Any) -> str:
    """Return a short text that shows a value, whatever it is, with rounded numbers."""
    if value is None:
        return "nothing (None)"
    return "a function that is not called: add ()" if isroutine(value) else _SHORT.repr(value)


def require_equal(got: Any, expected: Any, what: str, hint: str = "") -> None:
    """Raise a `CheckError` that shows both in the course's one form, unless two plain values are equal."""
    require(bool(got == expected), f"{what}: expected {told(expected)}, got {told(got)}{hint}")


def as_array(value: Any, what: str) -> Array:
    """Return a value as an array of double precision; messages begin with `what` it is.

    Raises:
        CheckError: it is not a number, array, tensor, or sequence of them.
    """
    try:
        if not isinstance(value, NO_NUMBERS):
            return np.array(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        pass
    raise CheckError(f"{what}: expected numbers, got {told(value)}")


def as_number(value: Any, what: str) -> float:
    """Return a value as a number; arrays and tensors that hold one number count.

    Raises:
        CheckError: it is not a number.
    """
    numbers = as_array(value, what)
    if numbers.size != 1:
        raise CheckError(f"{what}: expected one number, got {told(value)}")
    return float(numbers.ravel()[0])


def as_list(value: Any, what: str) -> list[Any]:
    """Return a sequence as a list.

    Raises:
        CheckError: it is not a sequence, but a single value or text.
    """
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim):
        return list(value)
    raise CheckError(f"{what}: expected a sequence, got {told(value)}")


def as_lists(reply: Any, length: int, what: str) -> list[list[Any]]:
    """Return what each rank replied to `length` questions: a shorter list would leave the rest unasked.

    Raises:
        CheckError: a rank did not reply with a list of this length.
    """
    lists = [as_list(of_rank, f"{what} on rank {rank}") for rank, of_rank in enumerate(reply)]
    for rank, of_rank in enumerate(lists):
        if len(of_rank) != length:
            raise CheckError(f"{what} on rank {rank}: expected {length} replies, got {len(of_rank)}")
    return lists


def as_dict(value: Any, what: str) -> dict[str, Any]:
    """Return a dictionary.

    Raises:
        CheckError: it is not a dictionary.
    """
    if isinstance(value, dict):
        return dict(value)
    raise CheckError(f"{what}: expected a dictionary, got {told(value)}")
