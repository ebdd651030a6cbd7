"""Plain data as JSON, and what a judge asks: all that passes between it and the processes that run an answer.

Reading never runs code, whatever process wrote the bytes: no pickle, no names but those of drivers, sizes checked.
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
MAX_REPLY_BYTES = 16 << 20  # of what an answer returns
MAX_NUM_PARTS = 1_000_000  # values in one message: each takes far more memory than its three bytes
MAX_DEPTH = 30
PLAIN = "return numbers, text, arrays, or lists, tuples and dictionaries of them"
DRIVERS = "coursekit.drivers."
ARRAY_KINDS = "biufcSU"  # numbers, truth values and text; no objects
LARGEST_JSON_INT = 1 << 53
MAX_NUM_DIGITS = 400  # of a whole number: reading more takes time that grows with their square
MAX_NUM_ODD_KEYS = 1000  # of one dictionary: numbers can be chosen so that all have one hash, texts cannot
MAX_NUM_CHARACTERS = 1 << 25  # of a list, if each of its values took as many as its longest text, as in an array


class TimedCell(NamedTuple):
    """A cell of a student's notebook."""

    name: str
    source: str
    timeout_s: float  # of the shell's own time
    definitions_only: bool = False  # then the rest of it is not run


class NotPlainError(Exception):
    """A value that is not plain data, or bytes that are not such a message."""


def dumps(value: Any) -> bytes:
    """Return plain data as JSON; where there is something else in it, a `NotPlainError` names its type.

    That is None, truth values, numbers, text, bytes, arrays, and lists, tuples and dictionaries of them; functions of
    `coursekit.drivers`, what their probes saw, and answers of a judge.
    """
    return json.dumps(_encode(value, 0), allow_nan=False).encode()


def loads(data: bytes, answers: Mapping[str, Callable[..., Any]] | None = None) -> Any:
    """Read what `dumps` wrote, from anybody; a `NotPlainError` says that the bytes are not such a message.

    `answers` is what stands for the answers by their names. Only with it are drivers looked up.
    """
    checked(data, MAX_NUM_BYTES)
    try:
        message = json.loads(data)
        _measure(message)
        return _decode(message, answers)
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError, MemoryError) as error:
        raise NotPlainError(f"not plain data ({type(error).__name__})") from None


def checked(data: bytes, max_bytes: int) -> bytes:
    """Return a message that can be read with bounded memory: of `max_bytes`, and not too many parts."""
    if len(data) > max_bytes:
        raise NotPlainError(f"data of more than {max_bytes >> 20} MiB")
    if sum(map(data.count, (b",", b"[", b"{"))) > MAX_NUM_PARTS:
        raise NotPlainError(f"data of more than {MAX_NUM_PARTS} values")
    return data


def _measure(value: Any) -> tuple[int, int]:
    """Return how many values there are in nested lists, and the length of the longest text among them.

    Refuse those of which NumPy would make too large an array, as all values get the room of the longest.
    """
    if isinstance(value, dict):
        content, tag = value.get("v"), value.get(TAG)
        if tag == "tuple":
            return _measure(content)
        if tag == "dict" and isinstance(content, list):
            for part in itertools.chain(*content):  # each on its own: nobody makes an array of a dictionary
                _measure(part)
        return 1, 0
    if not isinstance(value, list):
        return 1, len(value) if isinstance(value, str) else 0
    sizes = [_measure(one) for one in value]
    num_values, longest = sum(number for number, _ in sizes), max((length for _, length in sizes), default=0)
    if num_values * longest > MAX_NUM_CHARACTERS:
        raise NotPlainError(f"{num_values} values, one of them a text of {longest} characters, are not plain data")
    return num_values, longest


def _encode(value: Any, depth: int) -> Any:  # noqa: C901, PLR0911  # one line for each kind of data
    if depth > MAX_DEPTH:
        raise NotPlainError(f"data nested more than {MAX_DEPTH} deep")
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, bytes):  # NumPy's, too, of which an array drops zeros at the end
        return {TAG: "bytes", "v": base64.b64encode(value).decode()}
    if isinstance(value, np.ma.MaskedArray):
        raise NotPlainError("a masked array is not plain data: return its .filled(), which is an array")
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
    """Encode a driver, a judge's `Remote` answer, or one of TensorFlow's tensors, which is an array."""
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
        if array.dtype.name == "bfloat16":  # TensorFlow's own
            return _encode_array(array.astype(np.float32), is_scalar=is_scalar)
        raise NotPlainError(f"an array of {array.dtype} is not plain data")
    content = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {TAG: "scalar" if is_scalar else "array", "v": [array.dtype.str, list(array.shape), content]}


def _decode(value: Any, answers: Mapping[str, Callable[..., Any]] | None) -> Any:
    if isinstance(value, list):
        return [_decode(one, answers) for one in value]
    if isinstance(value, str):
        half_pairs_too = value.encode("utf-16", "surrogatepass")
        return half_pairs_too.decode("utf-16", "replace")  # as they could be written nowhere
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
    found = {key: one for key, one in pairs}  # noqa: C416  # of lists: unhashable keys are told
    if len(found) < len(pairs):  # they were of kinds of their own, which do not cross
        raise NotPlainError("a dictionary in which two keys have equal values is not plain data")
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
