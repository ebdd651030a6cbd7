"""What is judged: the source text of a hand-in's cells, in a lab parted in two, what runs with it and the judge's.

The instructor's notebook decides. Test cells are the judge's, and so is every cell that uses what comes from
`coursekit.checks`. All others run in the sandbox, without their imports of `coursekit.checks`; of cells that only draw,
their definitions.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from coursekit.framework import HOROVOD
from coursekit.grading.verdict import Flag, Verdict
from coursekit.labs.cells import cell_name, is_solution, is_test, names_of
from coursekit.paths import PACKAGE
from coursekit.way_out import checks_of_pieces

if TYPE_CHECKING:
    from nbformat import NotebookNode

CHECKS = "coursekit.checks"
DRAWING, PARAMETERS = "picture", "parameters"
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Work:
    """A student's own cells."""

    lab: str
    student: str
    answers: Mapping[str, str]  # by `grade_id`, the source of each answer cell; one that was deleted is missing
    extra: tuple[tuple[str, str], ...] = ()  # added code cells: the known cell before ('' at the top), and the source
    changed: Mapping[str, str] = field(default_factory=dict)  # by name, given code cells as the student changed them
    flags: tuple[Flag, ...] = ()  # what the instructor should know of the hand-in

    @property
    def taken(self) -> set[str]:
        """The checks that give no points, since the student took what they look at from the solution."""
        sources = [*self.answers.values(), *(source for _, source in self.extra), *self.changed.values()]
        return {check for source in sources for check in checks_of_pieces(source)}

    def digest(self) -> str:
        """Return a digest of the sources."""
        text = json.dumps([self.lab, sorted(self.answers.items()), self.extra, sorted(self.changed.items())])
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Submission:
    """One submission to judge."""

    source: Path  # the lab's notebook with hidden tests
    work: Work
    key: str = ""  # digest of all that the verdict depends on
    left_out: tuple[str, ...] = ()  # names of the judge's cells that are not run

    def not_judged(self, fault: str) -> Verdict:
        """Return a verdict without a score that says why it was not graded."""
        return Verdict(self.work.lab, self.work.student, (), self.work.flags, fault=fault, key=self.key)


class CellToRun(NamedTuple):
    """A cell for the sandbox."""

    name: str
    source: str
    definitions_only: bool = False


def cells_to_run(program: Program, work: Work) -> list[tuple[list[CellToRun], Part | None]]:
    """Return each of the judge's cells with the cells that the sandbox runs before it, in the notebook's order.

    So a test sees the answers as they are bound where it stands, whatever cells below it do.
    The last cells, below all of the judge's, come with None.
    Of a given cell that the student changed, the definitions come first; then the original overwrites what it defines.
    Example: answer `a` with a cell added below it, its test `t`, and an added cell at the end:
    `[([a, "a + 1"], t), (["t + 1"], None)]`.
    """
    runs = {part.name: part for part in program.run}
    judged = {part.name: part for part in program.judged}
    steps: list[tuple[list[CellToRun], Part | None]] = []
    cells: list[CellToRun] = []
    for name in ("", *program.order):
        if name in runs:
            source = work.answers.get(name, "") if runs[name].is_answer else runs[name].source
            changed = work.changed.get(name)
            cells += [CellToRun(f"{name} (changed)", changed, definitions_only=True)] if changed else []
            cells += [CellToRun(name, source)] if source.strip() else []
        elif name in judged:
            steps.append((cells, judged[name]))
            cells = []
        added = [source for after, source in work.extra if after == name]
        cells += [CellToRun(f"{name or 'top'} + {number}", source) for number, source in enumerate(added, 1)]
    return [*steps, (cells, None)]


def key_of(work: Work, source: Path, limits: str) -> str:
    """Return the digest of all that a verdict depends on; `source` is the lab's notebook with hidden tests."""
    parts = (work.digest(), hashlib.sha256(source.read_bytes()).hexdigest(), kit_digest(PACKAGE), limits)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@functools.lru_cache(maxsize=1)
def kit_digest(package: Path) -> str:
    """Return the digest of all that may decide besides a submission and its tests: a list would go out of date."""
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
    is_answer: bool = False  # then the student's source is run in place of this one
    points: float | None = None  # of a test


@dataclass(frozen=True)
class Program:
    """A lab in two."""

    lab: str
    run: tuple[Part, ...]  # the cells for the sandbox, in their order
    judged: tuple[Part, ...]  # the cells for the judge, in their order
    # What the judge's cells find: imports from `coursekit.checks`, other imports of the instructor's that they use, and
    # the lab's parameters.
    known: str
    order: tuple[str, ...]  # the names of all cells, texts too, in their order: a student may add code below each
    framework: str  # of the lab's ranks


def read_program(lab: str, source: NotebookNode) -> Program:
    """Part a lab's source notebook, with hidden tests, in two."""
    imports, parameters = [], ""
    judges: set[str] = set()
    run: list[Part] = []
    judged: list[Part] = []
    cells = [cell for cell in source.cells if cell.cell_type == "code"]
    for cell in cells:
        if is_test(cell):
            judged.append(Part(cell_name(cell), cell.source, points=float(cell.metadata.nbgrader.points)))
            continue
        own, without = _without_checks(cell.source)
        imports += own
        judges |= names_of("\n".join(own)).bound
        tags = cell.metadata.get("tags", [])
        if PARAMETERS in tags:
            parameters = cell.source
        if not is_solution(cell) and names_of(without).used & judges:
            judges |= names_of(without).bound
            judged.append(Part(cell_name(cell), without))
        else:
            source_text = "\n\n".join(_definitions(without)) if DRAWING in tags else without
            run.append(Part(cell_name(cell), source_text, is_answer=is_solution(cell)))
    used = frozenset().union(*(names_of(part.source).used for part in judged))
    given = [node for part in run if not part.is_answer for node in _statements(part.source)]
    trusted = [ast.unparse(node) for node in given if isinstance(node, (ast.Import, ast.ImportFrom))]
    others = [line for line in trusted if names_of(line).bound & used]
    known = "\n".join([*imports, *others, parameters])
    framework = source.metadata.get("coursekit", {}).get("framework", HOROVOD)
    return Program(lab, tuple(run), tuple(judged), known, tuple(map(cell_name, source.cells)), framework)


def _without_checks(source: str) -> tuple[list[str], str]:
    """Return a cell's imports from `coursekit.checks`, and its source without them."""
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
    """Return the statements of a cell; none if it has a magic: that binds nothing that an answer could use."""
    try:
        return ast.parse(source).body
    except SyntaxError:
        return []
