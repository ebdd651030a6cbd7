"""What an answer was when a trial began: a check of the trial says nothing about what the notebook holds by now."""

from __future__ import annotations

import dis
import inspect
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from coursekit.ranks.frames import is_library

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PLAIN = (bool, int, float, str, bytes, tuple, type(None))


def remember(*answers: Any) -> Callable[[], str]:
    """Return what says later which of these functions the notebook has under another definition, or '' for none.

    A function is told from another by its code, and by the functions, classes and plain values that it uses of the
    notebook's; comments and the place in the cell are no difference. Whatever is no function is passed over.
    """
    functions = [function for function in map(inspect.unwrap, filter(callable, answers)) if _is_function(function)]
    then = {function: _portrait(function, set()) for function in functions}

    def changed() -> str:
        for function, portrait in then.items():
            now = inspect.unwrap(function.__globals__.get(function.__name__, function))
            if _is_function(now) and _portrait(now, set()) != portrait:
                return str(function.__name__)
        return ""

    return changed


def _is_function(value: Any) -> bool:
    return isinstance(value, FunctionType)


def _portrait(function: FunctionType, seen: set[str]) -> Any:
    """Return plain data that differs when the function, or something that it uses of its notebook's, does."""
    codes = list(_codes(function.__code__))
    used = sorted({name for code in codes for name in _globals_in(code)} - seen)
    seen.update(used)
    uses = [(name, _portrait_of(function.__globals__[name], seen)) for name in used if name in function.__globals__]
    bodies = [(code.co_code, code.co_names, code.co_varnames, _plain(code.co_consts)) for code in codes]
    return (bodies, repr(function.__defaults__), repr(function.__kwdefaults__), uses)


def _portrait_of(value: Any, seen: set[str]) -> Any:
    value = inspect.unwrap(value) if callable(value) else value
    if isinstance(value, FunctionType) and not is_library(value.__code__.co_filename):
        return _portrait(value, seen)
    if isinstance(value, type) and value.__module__ == "__main__":
        return [(name, _portrait_of(part, seen)) for name, part in sorted(vars(value).items())]
    return repr(value) if isinstance(value, PLAIN) else type(value).__name__


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _globals_in(code: CodeType) -> set[str]:
    return {str(one.argval) for one in dis.get_instructions(code) if one.opname == "LOAD_GLOBAL"}


def _plain(constants: tuple[Any, ...]) -> list[str]:
    return [repr(constant) for constant in constants if not isinstance(constant, CodeType)]
