"""The plainest drivers, and what stands for an answer that is not here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

Array = np.ndarray[Any, Any]

UNUSABLE = "the check cannot use the answer, or what it returned"


@contextmanager
def eager_fit() -> Iterator[None]:
    """Let Keras' `fit` run its steps eagerly: of so few, to trace their graph takes several times as long.

    What an answer compiles itself with `tf.function` stays compiled.
    """
    import tensorflow as tf  # on ranks only

    always = property(lambda _: True, lambda *_: None)  # `compile` sets it
    with mock.patch.object(tf.keras.Model, "run_eagerly", always):
        yield


class WrongReturnError(TypeError):
    """An answer returned something of another kind than expected; the message says what, and what was expected."""


def require_returned(answer: Callable[..., Any], value: Any, *, fits: bool, expected: str, part: str = "") -> None:
    """Raise a `WrongReturnError` unless what an answer returned fits.

    Args:
        answer: the function that was called.
        value: what it returned, or a part of that.
        fits: whether a driver can continue with that.
        expected: what it can continue with, for example "a tf.data.Dataset".
        part: which part of what was returned the value is, for example "the label"; '' for all of it.
    """
    if not fits:
        raise _wrong_return(answer, value, expected, part)


def require_values(answer: Callable[..., Any], value: Any, expected: str, number: int | None = None) -> None:
    """Require that an answer returned a row of values, for example a tuple, of this `number`."""
    shape = getattr(value, "shape", None)
    if shape is not None:  # of an array or a tensor, of which a symbolic one has no len()
        fits = shape != () and number in {None, shape[0]}
    else:
        fits = isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and number in {None, len(value)}
    require_returned(answer, value, fits=fits, expected=expected)


def require_numbers(answer: Callable[..., Any], value: Any, expected: str, part: str = "") -> Array:
    """Return what an answer returned, or a part of it, as an array of double precision; require that it is one."""
    try:
        if not isinstance(value, (type(None), str, bytes)):  # NumPy would turn these into numbers
            return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        pass
    raise _wrong_return(answer, value, expected, part)


def require_number(answer: Callable[..., Any], value: Any, expected: str = "a number", part: str = "") -> float:
    """Return what an answer returned, or a part of it, as a float; require one number, also as a tensor or array."""
    numbers = require_numbers(answer, value, expected, part)
    fits = numbers.size == 1 and not isinstance(value, Sequence)
    require_returned(answer, value, fits=fits, expected=expected, part=part)
    return float(numbers.ravel()[0])


def require_entries(answer: Callable[..., Any], value: Any, part: str = "") -> dict[str, float]:
    """Return what an answer returned, or a part of it, as a dictionary of floats; require one of numbers."""
    require_returned(answer, value, fits=isinstance(value, Mapping), expected="a dictionary of numbers", part=part)
    where = f" of {part}" if part else ""
    return {
        str(name): require_number(answer, number, part=f"{str(name)!r}{where}") for name, number in dict(value).items()
    }


def _wrong_return(answer: Callable[..., Any], value: Any, expected: str, part: str = "") -> WrongReturnError:
    name, where = getattr(answer, "__name__", "the answer"), f" for {part}" if part else ""
    return WrongReturnError(f"{name} returned {_kind_of(value)}{where}; {expected} was expected")


def _kind_of(value: Any) -> str:
    """Return in words what kind of thing a value is, and nothing of its content."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__}, without parentheses"
    kind = type(value).__name__
    if isinstance(value, (tuple, list)):
        return f"a {kind} of {len(value)}"
    shape = getattr(value, "shape", None)
    if shape is not None:
        return f"an array or tensor of shape {tuple(shape)}"
    if hasattr(value, "element_spec"):
        return f"a data set, each element of which is {_parts_of(value.element_spec)}"
    return f"a {kind}"


def _parts_of(spec: Any) -> str:
    """Return in words what the elements of a data set are, by their `element_spec`."""
    if isinstance(spec, Mapping):
        return f"a dictionary with {', '.join(map(str, spec))}"[:80]
    if isinstance(spec, tuple):
        return f"a tuple of {len(spec)}"
    if hasattr(spec, "dtype"):
        return f"a tensor of shape {spec.shape}, {spec.dtype.name}"
    return f"a {type(spec).__name__}"


class Remote:
    """A function of another process, to which it travels as its name there."""

    name: str


def call(answer: Callable[..., Any], *args: Any) -> Any:
    """Call the answer."""
    return answer(*args)


def with_horovod(function: Callable[..., Any], *args: Any) -> Any:
    """Call the answer, or a driver with it, on a rank on which Horovod is initialised already."""
    import horovod.tensorflow as hvd  # only ranks import it

    hvd.init()
    return function(*args)
