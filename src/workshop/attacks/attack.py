"""Read a folder of attacks, in the format of the answer banks; see docs/attacks.md."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from coursekit import toml_files
from coursekit.toml_files import MAY_BE_EMPTY
from workshop.block import Block, Cell, fault, read_blocks

Names = Annotated[tuple[str, ...], MAY_BE_EMPTY]
FIRST_CELL = {"id": "num-updates"}  # what an attack's first cell replaces if it names nothing else


@dataclass(frozen=True)
class AttackCell:
    """One cell of an attack."""

    kind: str  # "answer", "extra" or "hand-in"
    name: str  # id of the answer cell, or of the cell before an extra one; '' at the top and for "hand-in"
    source: str


@dataclass(frozen=True)
class Attack:
    """One attack."""

    name: str
    title: str  # one line that says what it tries
    kind: str  # its class: the name of its file without the extension
    cells: tuple[AttackCell, ...]  # the cells handed in; all other answers are the solution's
    lab: str = "01-sgd"
    fails: Names = ()  # ids of the tests that must give no points; all others must pass
    consequences: Names = ()  # ids of tests that may pass or fail
    flags: Names = ()  # kinds of flags that the instructor must see, "one|other" for one of two; right work raises none

    @property
    def at_stake(self) -> tuple[str, ...]:
        """The tests that decide the outcome: those that it must fail; for right work, the tests of its answers."""
        if self.kind == "right":
            return tuple(f"{cell.name}-tests" for cell in self.cells if cell.kind == "answer")
        return self.fails


def load_attacks(folder: Path) -> tuple[Attack, ...]:
    """Read every attack of a folder, sorted by name.

    Raises:
        CourseKitError: no attack was found, or one is not in the right form.
    """
    return tuple(_read_attack(block) for block in read_blocks(folder))


def _read_attack(block: Block) -> Attack:
    if not block.cells:
        raise fault(block.path, block.line, "this attack has no cell", "bank.blank")
    cells = tuple(map(_read_cell, block.cells))
    where = f"{block.path}:{block.line}"
    return toml_files.read(Attack, block.facts, where, name=block.name, kind=block.path.stem, cells=cells)


def _read_cell(cell: Cell) -> AttackCell:
    marks = {**cell.marks} or FIRST_CELL
    if marks == {"role": "hand-in"}:
        return AttackCell("hand-in", "", cell.source)
    for key, kind in (("id", "answer"), ("after", "extra")):
        if marks.keys() == {key}:
            return AttackCell(kind, marks[key], cell.source)
    sentence = """a marker looks like '# %% id="loss"', '# %% after="loss"' or '# %% role="hand-in"'"""
    raise fault(cell.path, cell.line, sentence, "bank.odd-cell")
