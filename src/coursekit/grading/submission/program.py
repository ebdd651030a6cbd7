"""A lab parted in two: cells that run with the student's answers, and cells that the judge runs.

The instructor's notebook decides. Test cells are the judge's, and so is every cell that uses what comes from
`coursekit.checks`. All others run in the sandbox, without their imports of `coursekit.checks`; of cells that only draw,
their definitions.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit.grading.inside.cells import DEFINITIONS
from coursekit.labs.affected_tests import names_of
from coursekit.labs.cells import is_solution, is_test

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbformat import NotebookNode

CHECKS = "coursekit.checks"
DRAWING, PARAMETERS = "picture", "parameters"


@dataclass(frozen=True)
class Part:
    """One code cell of a program.

    Attributes:
        name: its `grade_id`, or its cell id where it has none.
        source: what is run.
        is_answer: whether the student's source takes its place.
        points: of a test cell; None for other cells.
    """

    name: str
    source: str
    is_answer: bool = False
    points: float | None = None


@dataclass(frozen=True)
class Program:
    """A lab in two.

    Attributes:
        run: the cells for the sandbox, in their order.
        judged: the cells for the judge, in their order.
        known: what the judge's cells find: imports from `coursekit.checks`, other imports of the instructor's that they
            use, and the lab's parameters.
        order: the names of all code cells in their order, to place what a student added.
    """

    lab: str
    run: tuple[Part, ...]
    judged: tuple[Part, ...]
    known: str
    order: tuple[str, ...]

    @property
    def needs_tensorflow(self) -> bool:
        """Whether any of the instructor's cells names TensorFlow or Horovod."""
        sources = (self.known, *(part.source for part in (*self.run, *self.judged)))
        return any(word in source for source in sources for word in ("tensorflow", "horovod"))


def read_program(lab: str, source: NotebookNode) -> Program:
    """Part a lab's source notebook, with hidden tests, in two."""
    imports, parameters = [], ""
    judges: set[str] = set()
    run: list[Part] = []
    judged: list[Part] = []
    cells = [cell for cell in source.cells if cell.cell_type == "code"]
    for cell in cells:
        if is_test(cell):
            judged.append(Part(name_of(cell), cell.source, points=float(cell.metadata.nbgrader.points)))
            continue
        own, without = _without_checks(cell.source)
        imports += own
        judges |= names_of("\n".join(own)).bound
        tags = cell.metadata.get("tags", [])
        if PARAMETERS in tags:
            parameters = cell.source
        if not is_solution(cell) and names_of(without).used & judges:
            judges |= names_of(without).bound
            judged.append(Part(name_of(cell), without))
        else:
            source_text = "\n\n".join(_definitions(without)) if DRAWING in tags else without
            run.append(Part(name_of(cell), source_text, is_answer=is_solution(cell)))
    used = frozenset().union(*(names_of(part.source).used for part in judged))
    given = [node for part in run if not part.is_answer for node in _statements(part.source)]
    trusted = [ast.unparse(node) for node in given if isinstance(node, (ast.Import, ast.ImportFrom))]
    others = [line for line in trusted if names_of(line).bound & used]
    known = "\n".join([*imports, *others, parameters])
    return Program(lab, tuple(run), tuple(judged), known, tuple(map(name_of, cells)))


def name_of(cell: NotebookNode) -> str:
    """Return a cell's `grade_id`, or its id where it has none."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id") or cell.id)


def _without_checks(source: str) -> tuple[list[str], str]:
    """Return a cell's imports from `coursekit.checks`, and its source without them."""
    statements = _statements(source)
    if not statements:
        return [], source
    lines = source.splitlines()
    own = []
    for node in statements:
        if _imports_checks(node):
            own.append(ast.get_source_segment(source, node) or "")
            for number in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[number] = ""  # the other lines keep their numbers
    return own, "\n".join(lines)


def _imports_checks(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").startswith(CHECKS)
    return isinstance(node, ast.Import) and any(alias.name.startswith(CHECKS) for alias in node.names)


def _definitions(source: str) -> Iterator[str]:
    for node in _statements(source):
        if isinstance(node, DEFINITIONS):
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
            yield "\n".join(source.splitlines()[first - 1 : node.end_lineno])


def _statements(source: str) -> list[ast.stmt]:
    """Return the statements of a cell; none if it has a magic: that binds nothing that an answer could use."""
    try:
        return ast.parse(source).body
    except SyntaxError:
        return []
