"""What is said of numbers that are wrong: what was expected, what came, and the slip that leads there."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import CheckError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TOLERANCE = 1e-6  # double precision leaves far less; a wrong formula is off by far more
NUM_DIGITS = (4, 9)  # of numbers in a message; the more where they would look the same


def close(got: Any, expected: Any, tolerance: float = TOLERANCE) -> bool:
    """Return whether numbers agree, each to this part of itself or to this much."""
    return bool(np.allclose(np.asarray(got, dtype=float), expected, rtol=tolerance, atol=tolerance))


def require_close(
    got: Any, expected: Any, what: str, slips: Mapping[str, Any] | None = None, tolerance: float = TOLERANCE
) -> None:
    """Require numbers to be those expected, in arrays of one shape.

    Args:
        got: the numbers that came.
        expected: the right ones.
        what: what they are; the message begins with it.
        slips: by what one says of a common slip, the numbers that it leads to.
        tolerance: as for `close`.

    Raises:
        CheckError: they are others; the message names the first slip that explains them.
    """
    if close(got, expected, tolerance):
        return
    slip = next((f": {words}" for words, value in (slips or {}).items() if close(got, value, tolerance)), "")
    told = [(shown(expected, digits), shown(got, digits)) for digits in NUM_DIGITS]
    right, wrong = next((pair for pair in told if len(set(pair)) > 1), told[-1])
    raise CheckError(f"{what}: expected {right}, got {wrong}{slip}")


def shown(numbers: Any, num_digits: int = NUM_DIGITS[0]) -> str:
    """Return numbers as text, rounded: "0.3333", "(1, -2.5)"."""
    if np.ndim(numbers):
        return f"({', '.join(shown(number, num_digits) for number in numbers)})"
    return f"{float(numbers) + 0.0:.{num_digits}g}"  # never "-0"


@contextmanager
def explained(hints: Mapping[str, str]) -> Iterator[None]:
    """Give exceptions of an answer a sentence of their own, by words that occur in their text.

    Raises:
        CheckError: in place of an exception whose words are among the hints.
    """
    try:
        yield
    except Exception as error:
        for words, hint in hints.items():
            if words in str(error):
                raise CheckError(hint) from None
        raise
