"""Pickle values for ranks with cloudpickle, but Horovod's objects by name; if this fails, name the part at fault."""

from __future__ import annotations

import functools
import inspect
import io
import sys
from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any

import cloudpickle


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # cloudpickle has no types
    def reducer_override(self, value: Any) -> Any:
        # After `from horovod.tensorflow import rank`, `rank` is a method bound to an object that holds a C library.
        place = _place_in_horovod(value)
        return (getattr, place) if place else super().reducer_override(value)


def _place_in_horovod(value: Any) -> tuple[ModuleType, str] | None:
    """Return the Horovod module that contains this very object, and the object's name there; None if no module does."""
    if not type(value).__module__.startswith("horovod."):
        return None
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("horovod.")]
    return next(((module, name) for module in modules for name, one in vars(module).items() if one is value), None)


def dumps(value: Any) -> bytes:
    """Pickle a value for `pickle.loads` in another process.

    If a part cannot be pickled, raise a `TypeError` that calls the part by its name in the student's code.
    """
    buffer = io.BytesIO()
    try:
        _Pickler(buffer).dump(value)
    except Exception as error:  # each object refuses pickling in its own way
        raise TypeError(
            f"{_culprit(value, '', set())} cannot be sent to other processes ({error}): "
            "create it inside the function that the ranks call"
        ) from error
    return buffer.getvalue()


def can_travel(value: Any) -> bool:
    """Return whether `dumps` can pickle this value."""
    try:
        _Pickler(io.BytesIO()).dump(value)
    except Exception:  # noqa: BLE001  # as above
        return False
    return True


def _culprit(value: Any, name: str, seen: set[int]) -> str:
    """Return a description of the innermost part of a value that cannot be pickled.

    `seen` holds the ids of the parts examined so far, because functions may use each other.
    """
    seen.add(id(value))
    for inner, part in _parts(value):
        if id(part) not in seen and not can_travel(part):
            return _culprit(part, inner or name, seen)
    kind = type(value).__name__
    return f"{name!r} (a {kind})" if name else f"a {kind}"


def _parts(value: Any) -> Iterable[tuple[str, Any]]:
    """Return the parts that are pickled with a value, each with its name in the notebook ('' if it has none)."""
    if isinstance(value, FunctionType):
        used = inspect.getclosurevars(value)
        return [*used.nonlocals.items(), *used.globals.items()]
    if isinstance(value, functools.partial):
        value = [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, dict):
        return [(name if isinstance(name, str) else "", part) for name, part in value.items()]
    return [("", part) for part in value] if isinstance(value, (list, tuple)) else []
