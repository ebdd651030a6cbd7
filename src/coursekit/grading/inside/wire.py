"""Encode and decode all messages between the judge and the processes that run answers, as JSON.

The messages are requests and plain data. Decoding never runs code, whichever process wrote the bytes: it uses no
pickle, looks up no functions except drivers, and checks sizes.
"""

from __future__ import annotations

import base64
import itertools
import json
import math
from collections.abc import Callable, Mapping
from importlib import import_module
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from coursekit.drivers.calls import Remote
from coursekit.drivers.probe_model import Record

TAG = "!"
MAX_NUM_BYTES = 64 << 20  # of one message
MAX_REPLY_BYTES = 16 << 20  # of the value that an answer returns
MAX_NUM_PARTS = 1_000_000  # values in one message: a value of three bytes may need far more memory
MAX_DEPTH = 30
PLAIN = "return numbers, text, arrays, or lists, tuples and dictionaries of them"
DRIVERS = "coursekit.drivers."
ARRAY_KINDS = "biufcSU"  # numbers, booleans and text; no objects
LARGEST_JSON_INT = 1 << 53
MAX_NUM_DIGITS = 400  # of an integer, because the time to read it grows with their square
MAX_NUM_ODD_KEYS = 1000  # in a dictionary: unlike texts, numbers can be chosen so that all have the same hash
MAX_NUM_CHARACTERS = 1 << 25  # in a list, if all values were as long as the longest text, as in an array


class TimedCell(NamedTuple):
    """A cell of a student's notebook."""

    name: str
    source: str
    timeout_s: float  # corrected time of the shell
    definitions_only: bool = False  # whether only the cell's definitions are run


class NotPlainError(Exception):
    """A value is not plain data, or some bytes are not a message that `dumps` could have written."""


def dumps(value: Any) -> bytes:
    """Return plain data as JSON; if there is anything else in it, raise a `NotPlainError` that names the type.

    Plain data are None, booleans, numbers, text, bytes, arrays, and lists, tuples and dictionaries of these. Also
    allowed are functions of `coursekit.drivers`, the records of their probes, and the objects that stand for answers in
    the judge.
    """
    return json.dumps(_encode(value, 0), allow_nan=False).encode()


def loads(data: bytes, answers: Mapping[str, Callable[..., Any]] | None = None) -> Any:
    """Decode bytes that may come from any process; raise a `NotPlainError` unless `dumps` could have written them.

    `answers` maps the names of answers to functions. Without this mapping, a message that refers to a driver or an
    answer is refused.
    """
    checked(data, MAX_NUM_BYTES)
    try:
        message = json.loads(data)
        _measure(message)
        return _decode(message, answers)
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError, MemoryError) as error:
        raise NotPlainError(f"not plain data ({type(error).__name__})") from None


def checked(data: bytes, max_bytes: int) -> bytes:
    """Return a message if it can be read in bounded memory; otherwise, raise a `NotPlainError`.

    It must have at most `max_bytes` bytes and at most `MAX_NUM_PARTS` values.
    """
    if len(data) > max_bytes:
        raise NotPlainError(f"the data is larger than {max_bytes >> 20} MiB")
    if sum(map(data.count, (b",", b"[", b"{"))) > MAX_NUM_PARTS:
        raise NotPlainError(f"the data has more than {MAX_NUM_PARTS} values")
    return data


def _measure(value: Any) -> tuple[int, int]:
    """Return the number of values in nested lists, and the length of the longest text among them.

    Raise a `NotPlainError` if the list would become too large an array, because NumPy gives each value as much room as
    the longest value needs.
    """
    if isinstance(value, dict):
        content, tag = value.get("v"), value.get(TAG)
        if tag == "tuple":
            return _measure(content)
        if tag == "dict" and isinstance(content, list):
            for part in itertools.chain(*content):  # each separately, because no code makes an array from a dictionary
                _measure(part)
        return 1, 0
    if not isinstance(value, list):
        return 1, len(value) if isinstance(value, str) else 0
    sizes = [_measure(one) for one in value]
    num_values, longest = sum(number for number, _ in sizes), max((length for _, length in sizes), default=0)
    if num_values * longest > MAX_NUM_CHARACTERS:
        raise NotPlainError(f"{num_values} values, one of them a text of {longest} characters, make too large an array")
    return num_values, longest


def _encode(value: Any, depth: int) -> Any:  # noqa: C901, PLR0911  # one line per kind of data
    if depth > MAX_DEPTH:
        raise NotPlainError(f"the data is nested more than {MAX_DEPTH} levels deep")
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, bytes):  # also NumPy's bytes, because an array would drop zeros at their end
        return {TAG: "bytes", "v": base64.b64encode(value).decode()}
    if isinstance(value, np.ma.MaskedArray):
        raise NotPlainError("a masked array is not plain data: return its .filled(), which is a plain array")
    if isinstance(value, (np.ndarray, np.generic)):
        return _encode_array(np.asarray(value), is_scalar=isinstance(value, np.generic))
    if isinstance(value, int):
        number = int(value)
        if abs(number) >= 10**MAX_NUM_DIGITS:
            raise NotPlainError(f"a whole number of more than {MAX_NUM_DIGITS} digits is not plain data")
        return number if abs(number) < LARGEST_JSON_INT else {TAG: "int", "v": str(number)}
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {TAG: "float", "v": repr(float(value))}
    if isinstance(value, list):
        return [_encode(one, depth + 1) for one in value]
    if isinstance(value, tuple):
        return {TAG: "tuple", "v": [_encode(one, depth + 1) for one in value]}
    if isinstance(value, dict):
        return {TAG: "dict", "v": [[_encode(one, depth + 1) for one in pair] for pair in value.items()]}
    if isinstance(value, Record):
        return {TAG: "record", "v": _encode([value.bias, value.samples, value.training], depth + 1)}
    return _encode_reference(value, depth)


def _encode_reference(value: Any, depth: int) -> Any:
    """Encode a driver, one of the judge's `Remote` answers, or a TensorFlow tensor (as an array)."""
    kind = type(value)
    if isinstance(value, FunctionType) and value.__module__.startswith(DRIVERS):
        return {TAG: "driver", "v": [value.__module__, value.__qualname__]}
    if isinstance(value, Remote):
        return {TAG: "answer", "v": value.name}
    if kind.__module__.startswith("tensorflow.") and hasattr(value, "numpy"):
        return _encode(value.numpy(), depth + 1)
    advice = "did you forget the parentheses?" if callable(value) else PLAIN
    raise NotPlainError(f"a value of type {kind.__name__} is not plain data: {advice}")


def _encode_array(array: np.ndarray[Any, Any], *, is_scalar: bool) -> Any:
    if array.dtype.kind not in ARRAY_KINDS:
        if array.dtype.name == "bfloat16":  # TensorFlow's type
            return _encode_array(array.astype(np.float32), is_scalar=is_scalar)
        raise NotPlainError(f"an array of {array.dtype} is not plain data")
    content = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {TAG: "scalar" if is_scalar else "array", "v": [array.dtype.str, list(array.shape), content]}


def _decode(value: Any, answers: Mapping[str, Callable[..., Any]] | None) -> Any:
    if isinstance(value, list):
        return [_decode(one, answers) for one in value]
    if isinstance(value, str):
        half_pairs_too = value.encode("utf-16", "surrogatepass")
        return half_pairs_too.decode("utf-16", "replace")  # no file could hold half of a surrogate pair
    if not isinstance(value, dict):
        return value
    tag, content = value[TAG], value["v"]
    if tag in {"driver", "answer"}:
        if answers is None:
            raise NotPlainError("a function is not plain data")
        return answers[content] if tag == "answer" else _find_driver(*content)
    return _READERS[tag](content if tag in _ATOMS else [_decode(one, answers) for one in content])


def _find_driver(module: str, name: str) -> Any:
    if not (module.startswith(DRIVERS) and name.isidentifier()):
        raise NotPlainError(f"{module}.{name} is not a driver")
    return getattr(import_module(module), name)


def _decode_array(content: Any) -> np.ndarray[Any, Any]:
    name, shape, data = content
    dtype = np.dtype(str(name))
    if dtype.kind not in ARRAY_KINDS:
        raise NotPlainError(f"an array of {dtype} is not plain data")
    flat = np.frombuffer(base64.b64decode(data, validate=True), dtype)
    array: np.ndarray[Any, Any] = flat.reshape([int(length) for length in shape]).copy()
    return array


def _decode_int(text: str) -> int:
    if len(text.lstrip("-")) > MAX_NUM_DIGITS:
        raise NotPlainError(f"a whole number of more than {MAX_NUM_DIGITS} digits is not plain data")
    return int(text)


def _decode_dict(pairs: list[list[Any]]) -> dict[Any, Any]:
    if len(pairs) > MAX_NUM_ODD_KEYS and not all(isinstance(key, str) for key, _ in pairs):
        raise NotPlainError(f"a dictionary of more than {MAX_NUM_ODD_KEYS} keys that are not text is not plain data")
    found = {key: one for key, one in pairs}  # noqa: C416  # from lists, so that unhashable keys raise an error
    if len(found) < len(pairs):  # some keys differed only in a type that the message does not keep
        raise NotPlainError("a dictionary with two equal keys is not plain data")
    return found


def _decode_record(content: Any) -> Record:
    bias, samples, training = content
    for array, kinds in ((bias, "f"), (samples, "iu")):
        if not (isinstance(array, np.ndarray) and array.dtype.kind in kinds):
            raise NotPlainError("a record without its arrays is not plain data")
    return Record(bias, samples, bool(training))


_ATOMS = {"int", "float", "bytes", "array", "scalar"}
_READERS: dict[str, Callable[[Any], Any]] = {
    "int": _decode_int,
    "float": float,
    "bytes": lambda text: base64.b64decode(text, validate=True),
    "array": _decode_array,
    "scalar": lambda content: _decode_array(content)[()],
    "tuple": tuple,
    "dict": _decode_dict,
    "record": _decode_record,
}
