"""Read a bank of answers: one small text notebook per answer, with the verdict that the tests must reach.

The form of the files is described in tests/answers/README.md.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import jupytext
import nbformat

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.labs.build.regions import without_markers
from coursekit.labs.build.text_notebook import FORMAT, MAGIC, MARKER
from coursekit.labs.cells import is_grade, is_solution, is_test
from coursekit.toml_files import MAY_BE_EMPTY
from workshop.block import read_block

_, CHANGES = ROLES = ("answer", "changes")
CHANGED_LINE = re.compile(r"#( [-+ ].*)?")


@dataclass(frozen=True)
class BankAnswer:
    """One answer to a lab and what the lab's tests must make of it."""

    name: str  # name of the file without its ending
    title: str  # one line that says what the student thought
    # Id of each test that must fail, with the words that its message must contain; empty for a right answer.
    fails: Mapping[str, tuple[str, ...]]
    cells: Mapping[str, str]  # id of each answer cell that is replaced, with its whole new source
    # Ids of tests that are not run: they use what is wrong, and may fail with it or not.
    consequences: frozenset[str] = frozenset()


def load_bank(folder: Path, source_notebook: Path) -> tuple[BankAnswer, ...]:
    """Read every answer of a bank, one `.py` file each, sorted by name; the lab is `build/source/<lab>/<lab>.ipynb`.

    Raises:
        CourseKitError: If there is no answer, or one of them is not as the lab and the format demand.
    """
    paths = sorted(folder.glob("*.py"))
    if not paths:
        raise CourseKitError(f"{folder} holds no answers: write one .py file for each (see tests/answers/README.md).")
    notebook = nbformat.read(source_notebook, as_version=4)
    return tuple(load_answer(path, notebook) for path in paths)


def load_answer(path: Path, notebook: nbformat.NotebookNode) -> BankAnswer:
    """Read one answer to the lab whose source is `notebook`.

    Raises:
        CourseKitError: If anything in the file is wrong; the message begins with file and line.
    """
    file = _File(path, path.read_text(encoding="utf-8").splitlines())
    tests = [cell.metadata.nbgrader.grade_id for cell in notebook.cells if is_test(cell)]
    solved = {
        cell.metadata.nbgrader.grade_id: without_markers(cell.source).splitlines()
        for cell in notebook.cells
        if is_solution(cell) and not is_grade(cell)
    }
    values, end = read_block(path, file.lines, "answer")
    block = toml_files.read(_Block, values, str(path))
    _check_block(path, block, tests)
    cells = _read_cells(file, end, solved)
    return BankAnswer(path.stem, block.title, dict(block.fails), cells, frozenset(block.consequences))


@dataclass(frozen=True)
class _File:
    """A file and its lines, which count from 1."""

    path: Path
    lines: Sequence[str]

    def fault(self, line: int, sentence: str) -> CourseKitError:
        return CourseKitError(f"{self.path}:{line}: {sentence}.")


@dataclass(frozen=True)
class _Block:
    """What the block at the top of an answer says; see `BankAnswer`."""

    title: str
    fails: Mapping[str, Annotated[tuple[str, ...], MAY_BE_EMPTY]] = field(default_factory=dict)
    consequences: Annotated[tuple[str, ...], MAY_BE_EMPTY] = ()


def _check_block(path: Path, block: _Block, tests: Collection[str]) -> None:
    if unknown := sorted({*block.fails, *block.consequences} - set(tests)):
        raise CourseKitError(f"{path}: the lab has no test {', '.join(unknown)}; its tests are {', '.join(tests)}.")
    if both := sorted(set(block.fails) & set(block.consequences)):
        raise CourseKitError(f"{path}: {', '.join(both)} must fail, so that it is no mere consequence.")
    if block.fails and not any(block.fails.values()):
        raise CourseKitError(f"{path}: at least one test of [fails] must say something: give words of its message.")


def _read_cells(file: _File, end: int, solved: Mapping[str, Sequence[str]]) -> dict[str, str]:
    markers = [i for i, line in enumerate(file.lines, 1) if i > end and MARKER.match(line)]
    stray = next((i for i, line in enumerate(file.lines, 1) if i > end and line.strip()), end)
    if not markers or stray < markers[0]:
        raise file.fault(stray, 'a cell with the marker `# %% role="answer" id="..."` must follow the block')
    cells: dict[str, str] = {}
    for first, after in zip(markers, [*markers[1:], len(file.lines) + 1]):
        # Read one at a time, so that each knows its line.
        cell = jupytext.reads("\n".join(file.lines[first - 1 : after - 1]), fmt=FORMAT).cells[0]
        written = {key: value for key, value in cell.metadata.items() if key != "lines_to_next_cell"}
        name, role = str(written.get("id")), written.get("role")
        if cell.cell_type != "code" or role not in ROLES or written != {"role": role, "id": name}:
            raise file.fault(first, 'a cell here is code and its marker `# %% role="answer" id="..."`, or "changes"')
        if name not in solved:
            raise file.fault(first, f"the lab has no answer cell {name!r}; it has {', '.join(solved)}")
        if name in cells:
            raise file.fault(first, f"the cell {name!r} is answered twice: keep one")
        if not cell.source.strip():
            raise file.fault(first, "this answer is empty: a comment will do when the student left it blank")
        changed = role == CHANGES
        cells[name] = _change(file, first, after, solved[name]) if changed else MAGIC.sub(r"\1\2", cell.source)
    return cells


def _change(file: _File, marker: int, after: int, solution: Sequence[str]) -> str:
    """Return the solution's cell with the changes of a cell, each where its old lines stand."""
    source: list[str] = []
    done = 0  # lines of the solution that are in `source` or replaced there
    for first, change in _changes(file, marker, after):
        old = [line[1:] for line in change if not line.startswith("+")]
        new = [line[1:] for line in change if not line.startswith("-")]
        found = [i for i in range(len(solution)) if old and solution[i : i + len(old)] == old]
        if len(found) != 1:
            raise file.fault(first, f"these old lines must stand once in the solution's cell, not {len(found)} times")
        if found[0] < done:
            raise file.fault(
                first, "these old lines stand before the end of the change above: keep the solution's order"
            )
        if new == old:
            raise file.fault(first, "this changes nothing: begin old lines with '# -' and new ones with '# +'")
        source += [*solution[done : found[0]], *new]
        done = found[0] + len(old)
    return "\n".join([*source, *solution[done:]])


def _changes(file: _File, marker: int, after: int) -> Iterator[tuple[int, list[str]]]:
    """Yield each change of a cell: the number of its first line, and its lines without the comment's sign."""
    change: list[str] = []
    for i, line in enumerate([*file.lines[marker : after - 1], ""], marker + 1):
        if line and not CHANGED_LINE.fullmatch(line):
            raise file.fault(i, "a line here begins with '# -' (old), '# +' (new) or '#  ' (it stays)")
        if line:
            change.append(line[2:])
        elif change:
            yield i - len(change), change
            change = []
