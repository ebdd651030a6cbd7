"""How to add a machine, key by key: made from the dataclasses of a profile and their docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

from coursekit.slurm.sites.profile import Site
from coursekit.text import markdown_table
from coursekit.toml_files import MAY_BE_EMPTY, AtLeast

KINDS = {bool: "true or false", int: "a whole number", str: "a text"}
STEPS = """# How to add a machine

A site is one file, `slurm/sites/<name>.toml`, and everything that the course knows of the machine stands there.

1. Copy the file of the machine that is closest to yours to `slurm/sites/<name>.toml` and change it; \
nothing else in the project names a machine.
2. `coursekit sites check <name>` says what is unknown, missing, or does not fit; \
`coursekit sites show <name>` shows the rest.
3. `coursekit build` makes its job scripts in `slurm/jobs/<name>/`, and refreshes [the page of machines](sites.md).
4. `coursekit rehearse --site <name>` submits them to a Slurm of that shape.
5. On the machine, try what you were not sure of; until then, `[[confirm]]` says so.

Every key that is not optional must be there, and no other.
"""


def guide_text() -> str:
    """Return the page on adding a machine, in Markdown: steps, then a table of keys for each part of the file."""
    hints = get_type_hints(Site, include_extras=True)
    parts = {name: part for name, hint in hints.items() if (part := _part(name, hint))}
    sections = [_section("At the top of the file", Site, leave_out={"name", *parts})]
    sections += [_section(heading, cls) for heading, cls in parts.values()]
    return "\n".join([STEPS, *sections])


def attributes(cls: type) -> dict[str, str]:
    """Return what a class's docstring says of its attributes, each in one line."""
    _, _, listed = (inspect.getdoc(cls) or "").partition("\nAttributes:\n")
    said = re.findall(r"^    (\w+): (.*(?:\n {8,}\S.*)*)", listed, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in said}


def _part(name: str, hint: Any) -> tuple[str, type] | None:
    """Return heading and class of a key that is a table of its own, or None for a plain value."""
    kind = get_args(hint)[0] if hasattr(hint, "__metadata__") else hint
    if is_dataclass(kind):
        return f"`[{name}]`", _as_class(kind)
    inner = get_args(kind)
    if get_origin(kind) is Mapping and is_dataclass(inner[1]):
        return f"`[{name}.<name>]`, as many as there are", _as_class(inner[1])
    if get_origin(kind) is tuple and is_dataclass(inner[0]):
        return f"`[[{name}]]`, as many as there are", _as_class(inner[0])
    return None


def _as_class(kind: Any) -> type:
    if not isinstance(kind, type):
        raise TypeError(kind)
    return kind


def _section(heading: str, cls: type, leave_out: frozenset[str] | set[str] = frozenset()) -> str:
    """Return one table of keys."""
    said = attributes(cls)
    hints = get_type_hints(cls, include_extras=True)
    rows = []
    for field in fields(cls):
        if field.name not in leave_out:
            required = field.default is MISSING and field.default_factory is MISSING
            kind = _kind(hints[field.name], required=required)
            rows.append((f"`{field.name}`", kind, said[field.name]))
    return f"## {heading}\n\n{markdown_table(('key', 'value', 'meaning'), rows)}"


def _kind(hint: Any, *, required: bool) -> str:
    """Return a type in words."""
    marks = getattr(hint, "__metadata__", ())
    kind = get_args(hint)[0] if marks else hint
    words = {tuple: "a list of texts", Mapping: "a table of texts"}.get(get_origin(kind)) or KINDS[kind]
    least = [f"at least {mark.minimum}" for mark in marks if isinstance(mark, AtLeast) and mark.minimum]
    free = ["may be empty"] if required and MAY_BE_EMPTY in marks else []
    return ", ".join([words, *least, *free, *([] if required else ["optional"])])
