"""Split a lab for grading: cells that run in the sandbox with the student's answers, and cells for the judge.

The instructor's notebook decides which cell runs where. The judge runs test cells, and every cell that uses names from
`coursekit.checks`. All other cells run in the sandbox, without their imports from `coursekit.checks`; if a cell only
draws, the sandbox runs only its definitions.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from coursekit.framework import HOROVOD
from coursekit.grading.inside import DEFINITIONS
from coursekit.grading.submission.cells import Cells
from coursekit.labs.cells import cell_name, is_solution, is_test, names_of
from coursekit.paths import PACKAGE

if TYPE_CHECKING:
    from nbformat import NotebookNode

CHECKS = "coursekit.checks"
DRAWING, PARAMETERS = "picture", "parameters"


class CellToRun(NamedTuple):
    """A cell that the sandbox runs; if `definitions_only` is true, it runs only the cell's definitions."""

    name: str
    source: str
    definitions_only: bool = False


def cells_to_run(program: Program, students: Cells) -> list[tuple[list[CellToRun], Part | None]]:
    """Return each of the judge's cells with the cells that the sandbox runs before it, in the notebook's order.

    In this way, a test sees each answer as it is defined at the test's place in the notebook, whatever the cells below
    the test do. The last pair holds the cells below the judge's last cell, with None in place of a judge's cell. If the
    student changed a given cell, the definitions in the changed cell run first; then the original cell redefines its
    names.
    Example: for answer `a` with a cell added below it, its test `t`, and an added cell at the end, the result is
    `[([a, "a + 1"], t), (["t + 1"], None)]`.
    """
    runs = {part.name: part for part in program.run}
    judged = {part.name: part for part in program.judged}
    steps: list[tuple[list[CellToRun], Part | None]] = []
    cells: list[CellToRun] = []
    for name in ("", *program.order):
        if name in runs:
            source = students.answers.get(name, "") if runs[name].is_answer else runs[name].source
            changed = students.changed.get(name)
            cells += [CellToRun(f"{name} (changed)", changed, definitions_only=True)] if changed else []
            cells += [CellToRun(name, source)] if source.strip() else []
        elif name in judged:
            steps.append((cells, judged[name]))
            cells = []
        added = [source for after, source in students.extra if after == name]
        cells += [CellToRun(f"{name or 'top'} + {number}", source) for number, source in enumerate(added, 1)]
    return [*steps, (cells, None)]


def key_of(lab: str, cells: Cells, source: bytes, limits: str) -> str:
    """Return a digest of everything that a verdict depends on; `source` is the lab's notebook with hidden tests."""
    parts = (cells.digest(lab), hashlib.sha256(source).hexdigest(), kit_digest(PACKAGE), limits)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@functools.lru_cache(maxsize=1)
def kit_digest(package: Path) -> str:
    """Return a digest of the versions of Python and its packages, and of all files of the kit.

    A shorter list of files would go out of date.
    """
    digest = hashlib.sha256(platform.python_version().encode())
    for line in sorted({f"{one.metadata['Name']} {one.version}" for one in distributions()}):
        digest.update(f"{line}\n".encode())
    for path in sorted(path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        digest.update(f"{path.relative_to(package)} ".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


@dataclass(frozen=True)
class Part:
    """One code cell of a program."""

    name: str
    source: str
    is_answer: bool = False  # whether the student's source runs in place of `source`
    points: float | None = None  # of a test


@dataclass(frozen=True)
class Program:
    """A lab, split into cells for the sandbox and cells for the judge."""

    lab: str
    run: tuple[Part, ...]  # the cells for the sandbox, in order
    judged: tuple[Part, ...]  # the cells for the judge, in order
    # Code to run before the judge's cells: their imports from `coursekit.checks`, the instructor's other imports that
    # they use, and the lab's parameters.
    known: str
    order: tuple[str, ...]  # the names of all cells, including texts, in order: students may add code below any
    framework: str  # the framework that the lab's ranks use


def read_program(lab: str, source: NotebookNode) -> Program:
    """Split a lab's source notebook, which has hidden tests, into cells for the sandbox and cells for the judge."""
    code = {cell_name(cell): cell for cell in source.cells if cell.cell_type == "code"}
    parted = {name: ([], cell.source) if is_test(cell) else _without_checks(cell.source) for name, cell in code.items()}
    judges = _judges(code, parted)

    points = {name: float(cell.metadata.nbgrader.points) for name, cell in code.items() if is_test(cell)}
    judged = tuple(Part(name, parted[name][1], points=points.get(name)) for name in judges)
    run = []
    for name in (name for name in code if name not in judges):
        rest, is_drawing = parted[name][1], DRAWING in code[name].metadata.get("tags", [])
        run.append(Part(name, "\n\n".join(_definitions(rest)) if is_drawing else rest, is_solution(code[name])))

    imports = [line for checks, _ in parted.values() for line in checks]
    used = frozenset().union(*(names_of(part.source).used for part in judged))
    given = [node for part in run if not part.is_answer for node in _statements(part.source)]
    trusted = [ast.unparse(node) for node in given if isinstance(node, (ast.Import, ast.ImportFrom))]
    others = [line for line in trusted if names_of(line).bound & used]
    parameters = ["", *(cell.source for cell in code.values() if PARAMETERS in cell.metadata.get("tags", []))][-1]
    known = "\n".join([*imports, *others, parameters])
    framework = source.metadata.get("coursekit", {}).get("framework", HOROVOD)
    return Program(lab, tuple(run), judged, known, tuple(map(cell_name, source.cells)), framework)


def _judges(code: Mapping[str, NotebookNode], parted: Mapping[str, tuple[list[str], str]]) -> list[str]:
    """Return the names of the judge's cells.

    These are the tests, and the cells that use a name that comes from `coursekit.checks` or from another of the judge's
    cells. Example: a cell with `found = lab01.try_it(answer)` and a later cell with `print(found)` are the judge's; the
    cell that defines `answer` is not.
    """
    found, names = [], set[str]()
    for name, cell in code.items():
        checks, rest = parted[name]
        names |= names_of("\n".join(checks)).bound
        if is_test(cell):
            found.append(name)
        elif not is_solution(cell) and names_of(rest).used & names:
            found.append(name)
            names |= names_of(rest).bound
    return found


def _without_checks(source: str) -> tuple[list[str], str]:
    """Return a cell's imports from `coursekit.checks` as a list, and the cell's source without these imports."""
    own, lines = [], source.splitlines()
    for node in _statements(source):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else names
        if any(name.startswith(CHECKS) for name in names):
            own.append(ast.get_source_segment(source, node) or "")
            for number in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[number] = ""  # the other lines keep their numbers
    return own, "\n".join(lines)


def _definitions(source: str) -> Iterator[str]:
    for node in _statements(source):
        if isinstance(node, DEFINITIONS):
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
            yield "\n".join(source.splitlines()[first - 1 : node.end_lineno])


def _statements(source: str) -> list[ast.stmt]:
    """Return the statements of a cell; [] if it is not plain Python, for example because it contains a magic.

    Such a cell is taken to define nothing that an answer uses.
    """
    try:
        return ast.parse(source).body
    except SyntaxError:
        return []
