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

# A message's code ("shards.overlap"), the beginning of codes if chance decides ("shards."), or a Python error.
CODE = re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9-]*|[A-Z]\w+")
CHANGED_LINE = re.compile(r"#( [-+ ].*)?")


@dataclass(frozen=True)
class BankAnswer:
    """One answer to a lab, and the verdict that the lab's tests must reach."""

    name: str
    title: str  # one line that says what the student thought
    # Id of each test that must fail, with codes (see `CODE`) that its message has; empty for a right answer.
    fails: Mapping[str, tuple[str, ...]]
    cells: Mapping[str, str]  # id of each answer cell that is replaced, with its whole new source
    # Ids of tests that are not run: they use the wrong code, and may pass or fail.
    consequences: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Facts:
    """The facts that a block gives about its answer; see `BankAnswer`."""

    title: str
    fails: Mapping[str, Annotated[tuple[str, ...], MAY_BE_EMPTY]] = field(default_factory=dict)
    consequences: Annotated[tuple[str, ...], MAY_BE_EMPTY] = ()


def load_bank(folder: Path, source_notebook: Path) -> tuple[BankAnswer, ...]:
    """Read all answers of a bank, sorted by name; the lab is `build/source/<lab>/<lab>.ipynb`.

    Raises:
        CourseKitError: there is no answer, or one does not fit the lab or the format.
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
        raise CourseKitError(f"{where}: {names} must fail, so it is no consequence: keep one.", "bank.two-verdicts")
    if facts.fails and not any(facts.fails.values()):
        raise CourseKitError(f"{where}: give the message's code for at least one test that fails.", "bank.no-code")
    if words := [word for codes in facts.fails.values() for word in codes if not CODE.fullmatch(word)]:
        sentence = "is not a code: give the one at the end of the message, without brackets"
        raise CourseKitError(f"{where}: {words[0]!r} {sentence}.", "bank.odd-code")
    return BankAnswer(
        block.name, facts.title, dict(facts.fails), _read_cells(block, solved), frozenset(facts.consequences)
    )


def _read_cells(block: Block, solved: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the new sources of cells by id; the id of the first cell is the name of the file."""
    cells: dict[str, str] = {}
    for cell in block.cells:
        marks = cell.marks if cells else {"id": block.path.stem, **cell.marks}
        name = marks.get("id", "")
        if marks != {"id": name} or (cell.marks and not cells):
            sentence = f"""the first cell answers {block.path.stem}, unmarked; others have the marker '# %% id="..."'"""
            raise fault(cell.path, cell.line, sentence, "bank.odd-cell")
        if name not in solved:
            sentence = f"the lab has no answer cell {name!r}; it has {', '.join(solved)}"
            raise fault(cell.path, cell.line, sentence, "bank.no-cell")
        if name in cells:
            raise fault(cell.path, cell.line, f"the cell {name!r} is answered twice: keep one", "bank.cell-twice")
        cells[name] = _change(cell, solved[name]) if _is_change(cell) else cell.source
    if not all(cells.values()) or not cells:
        sentence = "an answer is empty: write a comment if the student left it blank"
        raise fault(block.path, block.line, sentence, "bank.blank")
    return cells


def _is_change(cell: Cell) -> bool:
    """Whether a cell gives changes to the solution and not a whole new source."""
    return cell.source.startswith(("# -", "# +", "#  "))


def _change(cell: Cell, solution: Sequence[str]) -> str:
    """Return the solution's cell with a cell's changes, each in place of its old lines."""
    source: list[str] = []
    done = 0  # number of the solution's lines that are in `source` or replaced
    for first, change in _changes(cell):
        old = [line[1:] for line in change if not line.startswith("+")]
        new = [line[1:] for line in change if not line.startswith("-")]
        found = [i for i in range(len(solution)) if old and solution[i : i + len(old)] == old]
        if len(found) != 1:
            sentence = f"these old lines must occur once in the solution's cell, not {len(found)} times"
            raise fault(cell.path, first, sentence, "bank.not-once")
        if found[0] < done:
            sentence = "these old lines come before the end of the change above: keep the solution's order"
            raise fault(cell.path, first, sentence, "bank.order")
        if new == old:
            sentence = "this changes nothing: begin old lines with '# -' and new ones with '# +'"
            raise fault(cell.path, first, sentence, "bank.no-change")
        source += [*solution[done : found[0]], *new]
        done = found[0] + len(old)
    return "\n".join([*source, *solution[done:]])


def _changes(cell: Cell) -> Iterator[tuple[int, list[str]]]:
    """Yield each change of a cell: the number of its first line, and its lines without the comment sign."""
    change: list[str] = []
    for i, line in enumerate([*cell.lines, ""], cell.line + 1):
        if line and not CHANGED_LINE.fullmatch(line):
            sentence = "each line here must begin with '# -' (old), '# +' (new) or '#  ' (kept)"
            raise fault(cell.path, i, sentence, "bank.odd-line")
        if line:
            change.append(line[2:])
        elif change:
            yield i - len(change), change
            change = []
