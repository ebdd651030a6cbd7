"""The simplest drivers, the requirements on what answers return, and a stand-in for an answer in another process."""

import importlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from unittest import mock

import numpy as np

from coursekit.errors import ShownAsMessage

Array = np.ndarray[Any, Any]
Answer = Callable[..., Any]  # a student's function

UNUSABLE = "the check cannot use the answer or what it returned"


class Late:
    """A module that is imported on first use, because notebooks import the drivers, but only ranks need TensorFlow."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, part: str) -> Any:
        return getattr(importlib.import_module(self._name), part)


tf: Any = Late("tensorflow")
hvd: Any = Late("horovod.tensorflow")
hvd_keras: Any = Late("horovod.tensorflow.keras")


@contextmanager
def eager_fit() -> Iterator[None]:
    """Make Keras' `fit` run its steps eagerly, because tracing a graph for so few steps takes several times as long.

    Functions that an answer itself compiles with `tf.function` stay compiled.
    """
    always = property(lambda _: True, lambda *_: None)  # settable, because `compile` sets it
    with mock.patch.object(tf.keras.Model, "run_eagerly", always):
        yield


class WrongReturnError(ShownAsMessage, TypeError):
    """An answer returned the wrong kind of value; the message says what it returned and what was expected."""


def require_returned(answer: Answer, value: Any, *, fits: bool, expected: str, part: str = "") -> None:
    """Raise a `WrongReturnError` unless the value that an answer returned fits.

    `expected` says what the driver can use, for example "a tf.data.Dataset". `part` says which part of the result
    the value is, for example "the label"; it is '' if the value is the whole result.
    """
    if not fits:
        name, where = getattr(answer, "__name__", "the answer"), f" for {part}" if part else ""
        message = f"{name} returned {_kind_of(value)}{where}; {expected} was expected"
        raise WrongReturnError(message, "answer.wrong-type")


def require_values(answer: Answer, value: Any, expected: str, number: int | None = None) -> None:
    """Require that an answer returned a sequence, such as a tuple; if `number` is given, of this many values."""
    shape = getattr(value, "shape", None)
    if shape is not None:  # an array or a tensor; a symbolic tensor has no len()
        fits = shape != () and number in {None, shape[0]}
    else:
        fits = isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and number in {None, len(value)}
    require_returned(answer, value, fits=fits, expected=expected)


def require_numbers(answer: Answer, value: Any, expected: str, part: str = "") -> Array:
    """Convert what an answer returned, or a part of it, to a double-precision array; raise an error if this fails."""
    numbers = None
    if not isinstance(value, (type(None), str, bytes)):  # NumPy would turn these into numbers
        with suppress(TypeError, ValueError):
            numbers = np.asarray(value, dtype=float)
    require_returned(answer, value, fits=numbers is not None, expected=expected, part=part)
    return np.asarray(numbers)


def require_number(answer: Answer, value: Any, expected: str = "a number", part: str = "") -> float:
    """Convert what an answer returned, or a part of it, to a float; it must be a single number, perhaps in an array."""
    numbers = require_numbers(answer, value, expected, part)
    fits = numbers.size == 1 and not isinstance(value, Sequence)
    require_returned(answer, value, fits=fits, expected=expected, part=part)
    return float(numbers.ravel()[0])


def require_entries(answer: Answer, value: Any, part: str = "") -> dict[str, float]:
    """Convert what an answer returned, or a part of it, to a dictionary of floats; it must hold only numbers."""
    require_returned(answer, value, fits=isinstance(value, Mapping), expected="a dictionary of numbers", part=part)
    where = f" of {part}" if part else ""
    return {str(name): require_number(answer, one, part=f"{str(name)!r}{where}") for name, one in dict(value).items()}


def elements_of(answer: Answer, dataset: Any, most: int, num_parts: int = 2, *, batched: bool = True) -> list[Any]:
    """Return at most `most` elements of the data set that an answer returned.

    Each element must have `num_parts` parts; if there are two, they are the images and the labels. If `batched`, each
    part must have a first axis.
    """
    require_returned(answer, dataset, fits=isinstance(dataset, tf.data.Dataset), expected="a tf.data.Dataset")
    spec = dataset.element_spec
    parts = spec if isinstance(spec, tuple) else (spec,)
    are_tensors = len(parts) == num_parts and all(isinstance(part, tf.TensorSpec) for part in parts)
    fits = are_tensors and not (batched and any(part.shape.rank == 0 for part in parts))
    each, what = "batches" if batched else "samples", "pairs of images and labels" if num_parts > 1 else "arrays"
    require_returned(answer, dataset, fits=fits, expected=f"a data set of {each} ({what})")
    return list(itertools.islice(dataset.as_numpy_iterator(), most))


def mapped_pairs(answer: Answer, dataset: Any, expected: str, **settings: Any) -> list[Any]:
    """Return the pairs to which the answer maps the elements of a data set.

    As in the lab, `map` calls the answer once, and then runs its graph for every element. So NumPy draws random numbers
    only once for all elements, and code that needs plain numbers fails.
    """
    returned: list[Any] = []

    def noted(element: Any) -> Any:
        pair = answer(element, **settings)
        returned.append(pair)
        return tuple(pair)

    try:
        return list(dataset.map(noted).as_numpy_iterator())
    except tf.errors.OpError:
        for element in dataset.take(1):
            answer(element, **settings)  # raises the same error outside the graph, with the line of the answer
        raise
    finally:  # the data set's own message about a wrong return value explains nothing
        for one in returned:
            require_values(answer, one, expected, 2)


def _kind_of(value: Any) -> str:
    """Describe the kind of a value in words, without its content."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__}, without parentheses"
    kind = type(value).__name__
    if isinstance(value, (tuple, list)):
        return f"a {kind} of {len(value)}"
    if getattr(value, "shape", None) is not None:
        return f"an array or tensor of shape {tuple(value.shape)}"
    if hasattr(value, "element_spec"):
        kind = "an iterator over a data set" if hasattr(value, "__next__") else "a data set"
        return f"{kind} of {value.element_spec}"
    return f"a {kind}"


class Remote:
    """A function in another process, to which only its name is sent."""

    name: str


def call(answer: Answer, *args: Any) -> Any:
    """Call the answer."""
    return answer(*args)


def with_horovod(function: Callable[..., Any], *args: Any) -> Any:
    """Initialise Horovod on this rank, then call the answer, or a driver that gets the answer."""
    hvd.init()
    return function(*args)
