"""Which names a cell binds and uses, also inside functions, or by a change of an object."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple


class Names(NamedTuple):
    """The names that a cell binds or changes, and those that it uses, also inside functions."""

    bound: frozenset[str]
    used: frozenset[str]


@cache
def names_of(source: str) -> Names:
    """Return the names of a cell; none for one that is not Python alone."""
    try:
        names, tree = global_names(source), ast.parse(source)
    except SyntaxError:  # a magic, or an answer that is not Python: it binds no name that a test could use
        return Names(frozenset(), frozenset())
    parts = (node for node in ast.walk(tree) if isinstance(node, (ast.Attribute, ast.Subscript)))
    changed = {_base(part) for part in parts if isinstance(part.ctx, ast.Store)}
    return Names(names.bound | changed & names.used, names.used)


def global_names(code: str) -> Names:
    """Return the global names that code binds, and those that it uses, also inside functions.

    Raises:
        SyntaxError: it is not Python alone.
    """
    table = symtable.symtable(code, "cell", "exec")
    symbols = [one for scope in _scopes(table) for one in scope.get_symbols() if scope is table or one.is_global()]
    return Names(
        frozenset(one.get_name() for one in symbols if one.is_assigned() or one.is_imported()),
        frozenset(one.get_name() for one in symbols if one.is_referenced()),
    )


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """Yield the scope of a cell, and those of all functions and classes in it."""
    yield table
    for child in table.get_children():
        yield from _scopes(child)


def _base(node: ast.expr) -> str:
    """Return the name at the root of an attribute or an element, or ''."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
