"""Messages about wrong values of any type: what was expected, what the answer returned, and the likely mistake.

Example: a mean of 0.3333 is expected, but the answer returns the sum, 0.6667. Then
`require_close(2 / 3, 1 / 3, "the mean", "mean.wrong", {Cause("this is the sum", "mean.not-divided"): 2 / 3})` raises
"the mean: expected 0.3333, got 0.6667: this is the sum [mean.not-divided]".
"""

import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from inspect import isroutine
from typing import Any, NoReturn

import numpy as np

from coursekit.checks.check import CheckError
from coursekit.errors import Cause
from coursekit.tracebacks import text_of

Array = np.ndarray[Any, Any]

TOLERANCE = 1e-6  # rounding errors in double precision are far smaller, errors of a wrong formula far larger
NUM_DIGITS = (4, 9, 17)  # of the numbers in a message; more if two numbers would otherwise look the same
NUM_DIGITS_ALONE = 6  # of a number that is not compared with another number
MOST_SHOWN = 12  # numbers in an array that a message shows in full; of a larger array, it shows only the worst number
LONGEST = 40  # entries of a sequence that a message shows, if shorter texts would look the same
# For each factor between two units, the hint for a number that is too large or too small by that factor.
UNITS: dict[float, Cause] = {
    8: Cause("did you mix up bits and bytes?", "units.bits"),
    60: Cause("did you mix up seconds and minutes, or minutes and hours?", "units.sixty"),
    100: Cause("is it in per cent?", "units.per-cent"),
    1e3: Cause("is the unit wrong, such as milliseconds or kilobytes?", "units.thousand"),
    3600: Cause("did you mix up seconds and hours?", "units.hours"),
    1e6: Cause("is the unit wrong, such as microseconds or megabytes?", "units.million"),
    1e9: Cause("is the unit wrong, such as nanoseconds or gigabytes?", "units.billion"),
}
OF_SHARES: dict[float, Cause] = {100: UNITS[100]}  # 8/13 is 8 times 1/13, but not because of bits and bytes


def close(got: Any, expected: Any, tolerance: float = TOLERANCE, *, is_relative: bool = False) -> bool:
    """Return whether all numbers agree within the tolerance.

    If `is_relative`, only a relative error of this size is allowed; otherwise, an absolute error of this size is
    allowed in addition.
    """
    atol = 0.0 if is_relative else tolerance
    return bool(np.allclose(np.asarray(got, dtype=float), expected, rtol=tolerance, atol=atol))


def require_close(  # noqa: PLR0913  # the tolerance, by keyword
    got: Any,
    expected: Any,
    what: str,  # what the numbers are; the message begins with it
    code: str,  # used if nothing below explains the numbers
    mistakes: Mapping[Cause, Any] | None = None,  # the numbers to which each common mistake leads
    *,
    tolerance: float = TOLERANCE,
    is_relative: bool = False,  # as for `close`, for quantities that may be tiny
    otherwise: Cause | str | None = None,  # the hint if no mistake explains the numbers
    units: Mapping[float, Cause] | None = None,  # `OF_SHARES` for means and shares; `UNITS` by default
) -> None:
    """Require the numbers to equal the expected numbers within the tolerance; both must have the same shape.

    The message names the mistake that explains the numbers, unless several mistakes do; it also names wrong units. For
    a large array, it shows only the pair of numbers that differs most.
    """
    if close(got, expected, tolerance, is_relative=is_relative):
        return
    alike = [cause for cause, one in (mistakes or {}).items() if close(got, one, tolerance, is_relative=is_relative)]
    for factor, (words, unit) in (units or UNITS).items() if np.any(expected) else ():
        for number, side in ((factor, "large"), (1 / factor, "small")):
            if close(got, np.multiply(expected, number), max(tolerance, TOLERANCE), is_relative=True):
                alike.append(Cause(f"{factor:g} times too {side}: {words}", unit))
    place, got, expected = _worst(got, expected)
    _refuse(f"{what}{place}: {expected_and_got(got, expected, shown)}", code, alike or [otherwise])


def _refuse(message: str, code: str, causes: Sequence[Any]) -> NoReturn:
    """Raise a `CheckError`, which names the cause only if exactly one fits; if several fit, any could be right."""
    [cause] = causes if len(causes) == 1 else [None]
    words, code = cause if isinstance(cause, Cause) else (cause, code)
    raise CheckError(f"{message}: {words}" if words else message, code)


def _worst(got: Any, expected: Any) -> tuple[str, Any, Any]:
    """Return words that say where a message's two values are, then the values themselves: actual and expected.

    For a small array, the values are the arrays themselves, and the words are ''. For a large array, they are only the
    pair of numbers that differs most, and the words say so.
    """
    numbers, right = np.asarray(got, dtype=float), np.asarray(expected, dtype=float)
    if numbers.size <= MOST_SHOWN or numbers.shape != right.shape:
        return "", got, expected
    place = np.unravel_index(np.argmax(np.abs(numbers - right)), right.shape)
    return f", the worst of {right.size} numbers", numbers[place], right[place]


def require_equal(  # noqa: PLR0913  # a value, the words for a wrong one, and why
    got: Any,
    expected: Any,
    what: str,
    code: str,
    advice: str = "",  # added to the message if no mistake explains the value
    *,
    mistakes: Mapping[Cause, Any] | None = None,  # the value to which each common mistake leads
) -> None:
    """Require two plain values to be equal; the message shows both, and the mistake that explains the wrong value."""
    if bool(got == expected):
        return
    alike = [cause for cause, one in (mistakes or {}).items() if bool(got == one)]
    _refuse(f"{what}: {expected_and_got(got, expected, brief)}{'' if alike else advice}", code, alike)


def expected_and_got(got: Any, expected: Any, show: Callable[[Any, int], str]) -> str:
    """Return a text such as "expected 2, got 3", with enough digits to make the two values look different."""
    both = [(show(expected, digits), show(got, digits)) for digits in NUM_DIGITS]
    right, wrong = next((pair for pair in both if len(set(pair)) > 1), both[-1])
    return f"expected {right}, got {wrong}"


def shown(numbers: Any, num_digits: int = NUM_DIGITS[0]) -> str:
    """Return a number or an array as text, with rounded numbers, for example "0.3333" or "(1, -2.5)"."""
    if np.ndim(numbers):
        return f"({', '.join(shown(number, num_digits) for number in numbers)})"
    return f"{float(numbers) + 0.0:.{num_digits}g}"  # never "-0"


def brief(value: Any, num_digits: int = NUM_DIGITS_ALONE) -> str:
    """Return a short text for a value of any type, with rounded numbers; more digits also allow longer sequences."""
    if value is None:
        return "None"
    return "a function (did you forget the parentheses?)" if isroutine(value) else _Rounded(num_digits).repr(value)


class _Rounded(reprlib.Repr):
    """Makes short texts with rounded numbers; `reprlib` finds each method by the name of the value's type."""

    def __init__(self, num_digits: int) -> None:
        super().__init__()
        self.num_digits = max(num_digits, NUM_DIGITS_ALONE)
        if num_digits > NUM_DIGITS_ALONE:
            self.maxlist = self.maxtuple = self.maxdict = LONGEST

    def repr_float(self, value: float, _level: int) -> str:
        return f"{value:.{self.num_digits}g}"

    repr_float32 = repr_float64 = repr_float

    def repr_ndarray(self, value: Array, level: int) -> str:
        return f"array({self.repr1(value.tolist(), level)})"


@contextmanager
def explained(causes: Mapping[str, Cause]) -> Iterator[None]:
    """Turn an exception whose text contains a key of `causes` into a `CheckError` with that cause."""
    try:
        yield
    except Exception as error:
        for words, cause in causes.items():
            if words in text_of(error):
                raise CheckError(str(cause)) from None
        raise


def as_array(value: Any, what: str) -> Array:
    """Convert a number, an array, a tensor or a sequence to a double-precision array, or raise a `CheckError`."""
    with suppress(TypeError, ValueError):
        if not isinstance(value, (type(None), str, bytes)):  # NumPy would turn these into numbers
            return np.array(np.asarray(value, dtype=float))
    raise CheckError(f"{what}: expected numbers, got {brief(value)}", "answer.wrong-type")


def as_number(value: Any, what: str) -> float:
    """Convert a number, or an array or tensor that holds only one number, to a float, or raise a `CheckError`."""
    numbers = as_array(value, what)
    if numbers.size != 1:
        raise CheckError(f"{what}: expected one number, got {brief(value)}", "answer.wrong-type")
    return float(numbers.ravel()[0])


def as_list(value: Any, what: str) -> list[Any]:
    """Convert a list, a tuple or an array to a list; raise a `CheckError` for a single value or a text."""
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim):
        return list(value)
    raise CheckError(f"{what}: expected a sequence, got {brief(value)}", "answer.wrong-type")


def as_lists(reply: Any, length: int, what: str) -> list[list[Any]]:
    """Return the replies of each rank as a list, and require each list to have `length` entries, one per question."""
    lists = [as_list(of_rank, f"{what} on rank {rank}") for rank, of_rank in enumerate(reply)]
    for rank, of_rank in enumerate(lists):
        if len(of_rank) != length:
            raise CheckError(
                f"{what} on rank {rank}: expected {length} replies, got {len(of_rank)}", "answer.wrong-number"
            )
    return lists


def as_dict(value: Any, what: str) -> dict[str, Any]:
    """Return the value if it is a dictionary; otherwise, raise a `CheckError`."""
    if isinstance(value, dict):
        return dict(value)
    raise CheckError(f"{what}: expected a dictionary, got {brief(value)}", "answer.wrong-type")
