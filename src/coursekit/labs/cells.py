"""Read cells without importing nbgrader: their names, roles, points and pictures, and the names in their code."""

from __future__ import annotations

import ast
import base64
import re
import symtable
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from nbformat import NotebookNode

# Jupyter's tag for a cell that may fail, and our own tag for a cell in which errors are not part of the lesson.
GOES_ON = ("raises-exception", "run-all")
PNG = "image/png"
INJECTED = "injected-parameters"  # papermill's tag for the cell that it adds
COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
QUIZ = "quiz"  # the tag of the cell in which students choose, and the role of the cell that the author wrote


@dataclass(frozen=True)
class CellScore:
    """The points of a test cell, and its error without the traceback ("AssertionError: ..."), or '' if it passed."""

    grade_id: str
    points: float
    max_points: float
    message: str

    @property
    def passed(self) -> bool:
        """Whether the test passed; even a test worth 0 points can fail."""
        return not self.message


@dataclass(frozen=True)
class Picture:
    """A picture in an executed notebook: the cell that drew it, its PNG file, and its alternative text."""

    cell: str
    content: bytes
    alt: str

    @property
    def base64(self) -> str:
        """The file in base64, as notebooks and HTML pages contain it."""
        return base64.b64encode(self.content).decode()


def cell_name(cell: Mapping[str, Any]) -> str:
    """Return the name of a cell in the author's source; the cell that papermill adds is named after its tag."""
    metadata = cell.get("metadata", {})
    name = INJECTED if INJECTED in metadata.get("tags", []) else cell.get("id", "unnamed")
    return str(metadata.get("nbgrader", {}).get("grade_id") or name)


def error_in(cell: Mapping[str, Any]) -> str:
    """Return the error of an executed cell without traceback and colours; '' if there was no error."""
    errors = (output for output in cell.get("outputs", ()) if output.get("output_type") == "error")
    message = next((f"{one.get('ename', '')}: {one.get('evalue', '')}" for one in errors), "")
    return COLOURS.sub("", message).strip().removesuffix(":")


def pictures_in(cells: Iterable[Mapping[str, Any]]) -> list[Picture]:
    """Return the pictures in cells; a picture without alternative text gets its plain text or its cell's name."""
    found = []
    for cell in cells:
        for output in cell.get("outputs", ()):
            data, metadata = output.get("data", {}), output.get("metadata", {})
            if PNG in data:
                plain = "".join(data.get("text/plain", ""))
                # A printed object such as "<Figure size 640x480 with 1 Axes>" is useless as alternative text.
                words = metadata.get(PNG, {}).get("alt") or metadata.get("alt") or (plain if plain[:1] != "<" else "")
                alt = str(words or f"Picture drawn by the cell {cell_name(cell)}")
                found.append(Picture(cell_name(cell), base64.b64decode("".join(data[PNG])), alt))
    return found


def is_grade(cell: NotebookNode) -> bool:
    """Return whether the cell earns points."""
    return bool(cell.metadata.get("nbgrader", {}).get("grade", False))


def is_solution(cell: NotebookNode) -> bool:
    """Return whether this is a cell in which students write."""
    return bool(cell.metadata.get("nbgrader", {}).get("solution", False))


def is_test(cell: NotebookNode) -> bool:
    """Return whether nbgrader gives points to this cell by running it."""
    return is_grade(cell) and not is_solution(cell) and cell.cell_type == "code"


class Names(NamedTuple):
    """The names that a cell binds or changes, and the names that it uses, including those inside functions."""

    bound: frozenset[str]
    used: frozenset[str]


@cache
def names_of(source: str) -> Names:
    """Return the names that a cell binds and uses; both sets are empty if the cell is not plain Python."""
    try:
        names, tree = global_names(source), ast.parse(source)
    except SyntaxError:  # a magic, or an answer that is not Python: it binds no name that a test could use
        return Names(frozenset(), frozenset())
    parts = (node for node in ast.walk(tree) if isinstance(node, (ast.Attribute, ast.Subscript)))
    changed = {_base(part) for part in parts if isinstance(part.ctx, ast.Store)}
    return Names(names.bound | changed & names.used, names.used)


def global_names(code: str) -> Names:
    """Return the global names that code binds and uses, including those inside functions."""
    table = symtable.symtable(code, "cell", "exec")
    symbols = [one for scope in _scopes(table) for one in scope.get_symbols() if scope is table or one.is_global()]
    return Names(
        frozenset(one.get_name() for one in symbols if one.is_assigned() or one.is_imported()),
        frozenset(one.get_name() for one in symbols if one.is_referenced()),
    )


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """Yield the scope of a cell, and the scopes of all functions and classes in it."""
    yield table
    for child in table.get_children():
        yield from _scopes(child)


def _base(node: ast.expr) -> str:
    """Return the name at the root of an attribute or subscript expression; '' if the root is not a name."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
