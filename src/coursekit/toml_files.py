"""Read TOML files strictly into frozen dataclasses: unknown keys, missing keys and wrong types are errors.

A dataclass describes a whole file.
A field whose type is another dataclass is a table, and a field without a default is a required key.
`Annotated[int, AtLeast(1)]` and `Annotated[tuple[str, ...], MAY_BE_EMPTY]` express rules that a type cannot express.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from coursekit.errors import CourseKitError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

T = TypeVar("T")

MAY_BE_EMPTY = "may be empty"
"""A mark for `Annotated`, which says that the text, list or table may be empty."""

KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


@dataclass(frozen=True)
class AtLeast:
    """A mark for `Annotated`, which gives the smallest allowed number."""

    minimum: float


class ValueFaultError(CourseKitError):
    """A key's value does not fit the dataclass."""

    def __init__(self, where: str, key: tuple[str, ...], sentence: str, code: str) -> None:
        *tables, name = key
        table = f" [{'.'.join(tables)}]" if tables else ""
        super().__init__(f"{where}{table}: {name} {sentence}.", code)


def load(cls: type[T], path: Path, shown_as: str | None = None, **given: object) -> T:
    """Read a TOML file into the dataclass that describes it.

    The caller passes the values of the fields in `given`, and these fields must not be in the file. Messages call the
    file `shown_as`, which is its path by default.

    Raises:
        CourseKitError: the file cannot be read, or does not fit `cls`; the message names the file and the key.
    """
    where = shown_as or str(path)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))  # Notepad begins files with a byte order mark
    except FileNotFoundError:
        raise CourseKitError(f"{where} is missing: create it.", "toml.missing") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseKitError(f"{where} is not valid TOML: {error}.", "toml.not-valid") from None
    return read(cls, table, where, **given)


def read(cls: type[T], table: object, where: str, **given: object) -> T:
    """Do the same as `load` for a table that was parsed elsewhere, such as the header of a deck; `where` names it."""
    return _read_table(cls, _expect(table, dict, "a table", where, ("all of it",)), where, (), given)


def _read_table(
    cls: type[T], table: Mapping[str, object], where: str, key: tuple[str, ...], given: Mapping[str, object]
) -> T:
    expected = [field for field in fields(cls) if field.name not in given]  # type: ignore[arg-type]  # a dataclass
    allowed = [field.name for field in expected]
    needed = [one.name for one in expected if one.default is MISSING and one.default_factory is MISSING]
    here = f"{where} [{'.'.join(key)}]" if key else where
    if unknown := sorted(set(table) - set(allowed)):
        raise CourseKitError(f"{here}: unknown key(s) {unknown}; allowed: {', '.join(allowed)}.", "toml.unknown-key")
    if missing := [name for name in needed if name not in table]:
        raise CourseKitError(f"{here}: missing key(s) {missing}; required: {', '.join(needed)}.", "toml.missing-key")
    hints = get_type_hints(cls, include_extras=True)
    values = {name: _read_value(hints[name], value, where, (*key, name)) for name, value in table.items()}
    return cls(**given, **values)


def _read_value(hint: Any, value: object, where: str, key: tuple[str, ...]) -> object:
    marks: list[object] = []
    if get_origin(hint) is Annotated:
        hint, *marks = get_args(hint)
    parsed = _parse(hint, value, where, key)
    content = parsed.strip() if isinstance(parsed, str) else parsed
    if isinstance(content, (str, tuple, Mapping)) and MAY_BE_EMPTY not in marks and not content:
        raise ValueFaultError(where, key, "must not be empty", "toml.empty")
    for mark in marks:
        if isinstance(mark, AtLeast) and isinstance(parsed, (int, float)) and not parsed >= mark.minimum:
            raise ValueFaultError(where, key, f"must be at least {mark.minimum}, not {parsed}", "toml.too-small")
    return parsed


def _parse(hint: Any, value: object, where: str, key: tuple[str, ...]) -> object:
    origin, arguments = get_origin(hint), get_args(hint)
    if is_dataclass(hint) and isinstance(hint, type):
        return _read_table(hint, _expect(value, dict, "a table", where, key), where, key, {})
    if origin is tuple:
        items = _expect(value, list, "a list", where, key)
        return tuple(_read_value(arguments[0], item, where, (*key, str(i))) for i, item in enumerate(items))
    if origin is Mapping:
        table = _expect(value, dict, "a table", where, key)
        return MappingProxyType({k: _read_value(arguments[1], v, where, (*key, k)) for k, v in table.items()})
    kinds = arguments if origin is UnionType else (hint,)
    if type(value) in kinds:
        return value
    if float in kinds and type(value) is int:
        return float(value)
    raise ValueFaultError(
        where, key, f"must be {' or '.join(KINDS[kind] for kind in kinds)}, not {value!r}", "toml.type"
    )


def _expect(value: object, kind: type[T], kind_in_words: str, where: str, key: tuple[str, ...]) -> T:
    if not isinstance(value, kind):
        raise ValueFaultError(where, key, f"must be {kind_in_words}, not {value!r}", "toml.type")
    return value
