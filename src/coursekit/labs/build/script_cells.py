"""What a notebook's script cells hold: their code without magics and markers, and the names in it."""

from __future__ import annotations

import ast
import builtins
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coursekit.labs.affected_tests import global_names
from coursekit.labs.build.regions import EXACT

if TYPE_CHECKING:
    from collections.abc import Mapping

SCRIPT, PARAMETERS = "script", "parameters"
HOROVODS = ("horovod.tensorflow", "horovod.tensorflow.keras", "horovod.keras")
_MAGIC_LINE = re.compile(r"\s*[%!]")
_KNOWN_NAMES = {*dir(builtins), "__file__", "__name__", "__doc__"}
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class TwinError(ValueError):
    """Script cells that make no program; `cell` is the one to blame."""

    def __init__(self, cell: Mapping[str, Any], sentence: str) -> None:
        super().__init__(sentence)
        self.cell = cell


@dataclass(frozen=True)
class ScriptCell:
    """A cell of the notebook, and its code as it goes into the twin."""

    cell: Mapping[str, Any]
    text: str


@dataclass(frozen=True)
class Script:
    """The script cells in order; the code of the parameters cell, which stands before number `position` of them."""

    cells: tuple[ScriptCell, ...]
    parameters: str
    position: int

    @property
    def text(self) -> str:
        """The code of all cells but that of the parameters."""
        return "\n".join(cell.text for cell in self.cells)


def find_script(notebook: Mapping[str, Any]) -> Script:
    """Return the script of a notebook.

    Raises:
        TwinError: a cell is not Python, or all of them together are not a program.
    """
    cells: list[ScriptCell] = []
    parameters, position = "", 0
    for cell in notebook["cells"]:
        tags = cell["metadata"].get("tags", ()) if cell["cell_type"] == "code" else ()
        if PARAMETERS in tags:
            parameters, position = _code(cell), len(cells)
        elif SCRIPT in tags:
            cells.append(ScriptCell(cell, _code(cell)))
    script = Script(tuple(cells), parameters, position)
    try:
        compile(f"import argparse\n{script.text}", "train.py", "exec")
    except SyntaxError as error:  # each cell by itself is sound, such as one with an import from __future__
        raise TwinError(cells[0].cell, f"the script cells together are not a program: {error.msg}") from None
    return script


def refuse_unknown_names(script: Script) -> None:
    """Refuse a name that no script cell defines.

    Raises:
        TwinError: with the first cell that uses it.
    """
    imports = (node for node in ast.walk(ast.parse(script.text)) if isinstance(node, ast.ImportFrom))
    if any(node.names[0].name == "*" for node in imports):
        return  # whatever is used may come from there
    defined = global_names(script.text).bound | global_names(script.parameters).bound
    for cell in script.cells:
        unknown = sorted(global_names(cell.text).used - defined - _KNOWN_NAMES)
        if unknown:
            sentence = f"the script would not know `{unknown[0]}`: define it in a cell with the tag `{SCRIPT}`"
            raise TwinError(cell.cell, sentence)


def horovod_alias(code: str) -> str:
    """Return the name under which code imports Horovod for TensorFlow, or ''."""
    for node in ast.walk(ast.parse(code)):
        for name in node.names if isinstance(node, ast.Import) else ():
            if name.name in HOROVODS and name.asname:
                return name.asname
    return ""


def starts_and_ends_with_definition(code: str) -> tuple[bool, bool]:
    """Whether the first and the last statement define a function or a class."""
    body = ast.parse(code).body
    return bool(body) and isinstance(body[0], _DEFINITIONS), bool(body) and isinstance(body[-1], _DEFINITIONS)


def _code(cell: Mapping[str, Any]) -> str:
    """Return a cell's code without markers of regions, and without magics, which only notebooks know."""
    lines = [line for line in "".join(cell["source"]).splitlines() if not EXACT.fullmatch(line)]
    try:
        ast.parse("\n".join(lines))
    except SyntaxError:
        # A line may begin with % in Python too, in the middle of a formula; such a cell has been read above.
        lines = ["" if _MAGIC_LINE.match(line) else line for line in lines]
    code = "\n".join(lines).strip("\n")
    try:
        ast.parse(code)
    except SyntaxError as error:
        raise TwinError(cell, f"this script cell is not Python: {error.msg} in its line {error.lineno}") from None
    return code
