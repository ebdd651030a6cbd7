"""Read a bank of answers, each with the verdict that the tests must reach; see tests/answers/README.md."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import nbformat

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.labs.build.regions import without_markers
from coursekit.labs.cells import is_grade, is_solution, is_test
from coursekit.toml_files import MAY_BE_EMPTY
from workshop.block import Block, Cell, fault, read_blocks

# A message's code ("shards.overlap"), the beginning of codes if draws decide ("shards."), or an error of Python's.
CODE = re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9-]*|[A-Z]\w+")
CHANGED_LINE = re.compile(r"#( [-+ ].*)?")


@dataclass(frozen=True)
class BankAnswer:
    """One answer to a lab and what the lab's tests must make of it."""

    name: str
    title: str  # one line that says what the student thought
    # Id of each test that must fail, with codes (see `CODE`) of its message; empty for a right answer.
    fails: Mapping[str, tuple[str, ...]]
    cells: Mapping[str, str]  # id of each answer cell that is replaced, with its whole new source
    # Ids of tests that are not run: they use what is wrong, and may fail with it or not.
    consequences: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Facts:
    """What a block says about its answer; see `BankAnswer`."""

    title: str
    fails: Mapping[str, Annotated[tuple[str, ...], MAY_BE_EMPTY]] = field(default_factory=dict)
    consequences: Annotated[tuple[str, ...], MAY_BE_EMPTY] = ()


def load_bank(folder: Path, source_notebook: Path) -> tuple[BankAnswer, ...]:
    """Read every answer of a bank, sorted by name; the lab is `build/source/<lab>/<lab>.ipynb`.

    Raises:
        CourseKitError: If there is no answer, or one of them is not as the lab and the format demand.
    """
    notebook = nbformat.read(source_notebook, as_version=4)
    tests = [cell.metadata.nbgrader.grade_id for cell in notebook.cells if is_test(cell)]
    solved = {
        cell.metadata.nbgrader.grade_id: without_markers(cell.source).splitlines()
        for cell in notebook.cells
        if is_solution(cell) and not is_grade(cell)
    }
    return tuple(_read_answer(block, tests, solved) for block in read_blocks(folder))


def _read_answer(block: Block, tests: Collection[str], solved: Mapping[str, Sequence[str]]) -> BankAnswer:
    where = f"{block.path}:{block.line}"
    facts = toml_files.read(_Facts, block.facts, where)
    if unknown := sorted({*facts.fails, *facts.consequences} - set(tests)):
        names = ", ".join(unknown)
        raise CourseKitError(f"{where}: the lab has no test {names}; it has {', '.join(tests)}.", "bank.no-test")
    if both := sorted(set(facts.fails) & set(facts.consequences)):
        names = ", ".join(both)
        raise CourseKitError(f"{where}: {names} must fail, so that it is no mere consequence.", "bank.two-verdicts")
    if facts.fails and not any(facts.fails.values()):
        raise CourseKitError(f"{where}: give the message's code for at least one test that fails.", "bank.no-code")
    if words := [word for codes in facts.fails.values() for word in codes if not CODE.fullmatch(word)]:
        sentence = "is no code: give the one that the message ends with, without brackets"
        raise CourseKitError(f"{where}: {words[0]!r} {sentence}.", "bank.odd-code")
    return BankAnswer(
        block.name, facts.title, dict(facts.fails), _read_cells(block, solved), frozenset(facts.consequences)
    )


def _read_cells(block: Block, solved: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the new sources of cells by their ids; the first one's is the name of the file."""
    cells: dict[str, str] = {}
    for cell in block.cells:
        marks = cell.marks if cells else {"id": block.path.stem, **cell.marks}
        name = marks.get("id", "")
        if marks != {"id": name} or (cell.marks and not cells):
            sentence = f"""it begins with its answer to {block.path.stem}; others have the marker '# %% id="..."'"""
            raise fault(cell.path, cell.line, sentence, "bank.odd-cell")
        if name not in solved:
            sentence = f"the lab has no answer cell {name!r}; it has {', '.join(solved)}"
            raise fault(cell.path, cell.line, sentence, "bank.no-cell")
        if name in cells:
            raise fault(cell.path, cell.line, f"the cell {name!r} is answered twice: keep one", "bank.cell-twice")
        cells[name] = _change(cell, solved[name]) if _is_change(cell) else cell.source
    if not all(cells.values()) or not cells:
        sentence = "an answer is empty: a comment will do if the student left it blank"
        raise fault(block.path, block.line, sentence, "bank.blank")
    return cells


def _is_change(cell: Cell) -> bool:
    """Whether a cell begins as the solution with changes does."""
    return cell.source.startswith(("# -", "# +", "#  "))


def _change(cell: Cell, solution: Sequence[str]) -> str:
    """Return the solution's cell with the changes of a cell, each where its old lines stand."""
    source: list[str] = []
    done = 0  # lines of the solution that are in `source` or replaced there
    for first, change in _changes(cell):
        old = [line[1:] for line in change if not line.startswith("+")]
        new = [line[1:] for line in change if not line.startswith("-")]
        found = [i for i in range(len(solution)) if old and solution[i : i + len(old)] == old]
        if len(found) != 1:
            sentence = f"these old lines must be once in the solution's cell, not {len(found)} times"
            raise fault(cell.path, first, sentence, "bank.not-once")
        if found[0] < done:
            sentence = "these old lines are before the end of the change above: keep the solution's order"
            raise fault(cell.path, first, sentence, "bank.order")
        if new == old:
            sentence = "this changes nothing: begin old lines with '# -' and new ones with '# +'"
            raise fault(cell.path, first, sentence, "bank.no-change")
        source += [*solution[done : found[0]], *new]
        done = found[0] + len(old)
    return "\n".join([*source, *solution[done:]])


def _changes(cell: Cell) -> Iterator[tuple[int, list[str]]]:
    """Yield each change of a cell: the number of its first line, and its lines without the comment's sign."""
    change: list[str] = []
    for i, line in enumerate([*cell.lines, ""], cell.line + 1):
        if line and not CHANGED_LINE.fullmatch(line):
            sentence = "a line here begins with '# -' (old), '# +' (new) or '#  ' (it stays)"
            raise fault(cell.path, i, sentence, "bank.odd-line")
        if line:
            change.append(line[2:])
        elif change:
            yield i - len(change), change
            change = []
