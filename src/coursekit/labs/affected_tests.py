"""Which tests of a notebook a changed answer can affect, and which cells they need to run.

Cells know each other by names only. A test that uses no name, directly or through other cells, that the answer's cells
bind does the same as with the solution, so running it for each of a hundred answers would only take time.
In doubt a cell counts as affected: names inside functions count as used, and a cell that changes an object counts as
binding the object's name.
"""

from __future__ import annotations

import ast
import symtable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit.labs.cells import is_test

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from nbformat import NotebookNode


@dataclass(frozen=True)
class Names:
    """The names that a cell binds or changes, and those that it uses, also inside functions."""

    bound: frozenset[str]
    used: frozenset[str]

    def __or__(self, other: Names) -> Names:
        """Return the names of both."""
        return Names(self.bound | other.bound, self.used | other.used)


NO_NAMES = Names(frozenset(), frozenset())


class LabCells:
    """The code cells of a lab's source, and what an answer to it can affect."""

    def __init__(self, cells: Sequence[NotebookNode]) -> None:
        self.cells = [cell for cell in cells if cell.cell_type == "code"]
        self.ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in self.cells]
        self.tests = {i for i, cell in enumerate(self.cells) if is_test(cell)}
        self.names = [names_of(cell.source) for cell in self.cells]

    def tests_in_reach(self, answers: Mapping[str, str]) -> frozenset[str]:
        """Return the ids of the tests that an answer can reach; `answers` maps ids of cells to new sources."""
        return frozenset(self.ids[i] for i in self.tests & self._changed(answers))

    def cells_to_run(self, answers: Mapping[str, str], left_out: Collection[str] = ()) -> list[NotebookNode]:
        """Return the code cells to run for an answer, in their order; all of them when it replaces none.

        Args:
            answers: by id, the sources that the answer puts in place of cells.
            left_out: ids of tests that are not run in any case.
        """
        if not answers:
            return self.cells
        replaced = {i for i, name in enumerate(self.ids) if name in answers}
        effects = {i for i, names in enumerate(self.names) if not names.bound} - self.tests
        tests = {i for i in self.tests & self._changed(answers) if self.ids[i] not in left_out}
        wanted = _closure(
            replaced | effects | tests,
            self._names(answers),
            lambda cell, others: bool(cell.bound & _all(other.used for other in others)),
        )
        return [cell for i, cell in enumerate(self.cells) if i in wanted]

    def _names(self, answers: Mapping[str, str]) -> list[Names]:
        """Return the names of each cell, old and new: one that the answer forgets to bind is missed by tests of it."""
        return [names | names_of(answers.get(name, "")) for name, names in zip(self.ids, self.names)]

    def _changed(self, answers: Mapping[str, str]) -> set[int]:
        replaced = {i for i, name in enumerate(self.ids) if name in answers}
        return _closure(
            replaced,
            self._names(answers),
            lambda cell, others: bool(cell.used & _all(other.bound for other in others)),
        )


def _closure(start: set[int], names: Sequence[Names], belongs: Callable[[Names, Sequence[Names]], bool]) -> set[int]:
    """Add cells that belong to those chosen, until none is left: functions may use names that are bound below them."""
    chosen = set(start)
    while True:
        others = [names[i] for i in chosen]
        more = {i for i, cell in enumerate(names) if i not in chosen and belongs(cell, others)}
        if not more:
            return chosen
        chosen |= more


def _all(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def names_of(source: str) -> Names:
    """Return the names of a cell; none for one that is not Python alone."""
    try:
        table, tree = symtable.symtable(source, "cell", "exec"), ast.parse(source)
    except SyntaxError:  # a magic, or an answer that is no Python: it binds no name that a test could use
        return NO_NAMES
    used: set[str] = set()
    bound: set[str] = set()
    for scope in _scopes(table):
        for symbol in scope.get_symbols():
            if scope is table or symbol.is_global():
                used |= {symbol.get_name()} if symbol.is_referenced() else set()
                bound |= {symbol.get_name()} if symbol.is_assigned() or symbol.is_imported() else set()
    parts = (node for node in ast.walk(tree) if isinstance(node, (ast.Attribute, ast.Subscript)))
    changed = {_base(part) for part in parts if isinstance(part.ctx, ast.Store)}
    return Names(frozenset(bound | changed & used), frozenset(used))


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
