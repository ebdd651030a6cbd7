"""Read the blocks of a bank: each file holds several answers or attacks, each with its facts and its cells.

tests/answers/README.md describes the format.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from coursekit.errors import CourseKitError
from coursekit.labs.build.text_notebook import MAGIC, MARKER
from coursekit.toml_files import tomllib  # type: ignore[attr-defined]  # its own, or tomli

BEGINNING = re.compile(r"# %% ([\w-]+)")
FACT = re.compile(r"# [a-z][\w.-]* = .*")
MARK = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True)
class Cell:
    """A cell of a block."""

    path: Path
    line: int  # number of the line above its first line
    marks: Mapping[str, str]  # keys and values of its marker; the first cell of a block needs no marker
    lines: Sequence[str]

    @property
    def source(self) -> str:
        """The cell's source, in which commented magics have become magics."""
        return MAGIC.sub(r"\1\2", "\n".join(self.lines).strip("\n"))


@dataclass(frozen=True)
class Block:
    """An answer or an attack."""

    name: str
    path: Path
    line: int  # number of the line with its name
    facts: dict[str, Any]
    cells: tuple[Cell, ...]  # a cell without source is kept only if its marker has keys


def read_blocks(folder: Path) -> list[Block]:
    """Read all blocks of the `.py` files in a folder, sorted by name.

    Raises:
        CourseKitError: there is no block, two blocks have one name, or a file is malformed.
    """
    blocks = sorted((block for path in folder.glob("*.py") for block in _read(path)), key=lambda block: block.name)
    if not blocks:
        raise CourseKitError(f"{folder} has no .py file with blocks (see tests/answers/README.md).", "bank.empty")
    for one, other in zip(blocks, blocks[1:]):
        if one.name == other.name:
            raise fault(other.path, other.line, f"the name {one.name!r} is taken in {one.path}", "bank.name-twice")
    return blocks


def fault(path: Path, line: int, sentence: str, code: str) -> CourseKitError:
    """Return an error whose message names the file and the line."""
    return CourseKitError(f"{path}:{line}: {sentence}.", code)


def _read(path: Path) -> list[Block]:
    lines = path.read_text(encoding="utf-8").splitlines()
    starts = [i for i, line in enumerate(lines) if BEGINNING.fullmatch(line)]
    if any(line.strip() for line in lines[: starts[0] if starts else None]):
        raise fault(path, 1, "the file must begin with a line '# %% name-of-the-first-answer'", "bank.no-name")
    return [_read_block(path, lines[:end], start) for start, end in zip(starts, [*starts[1:], len(lines)])]


def _read_block(path: Path, lines: Sequence[str], start: int) -> Block:
    """Read the block that begins at line `start`, counted from 0, and runs to the last line."""
    head = list(takewhile(FACT.fullmatch, lines[start + 1 :]))
    try:  # blank lines in front make errors give the line of the file
        facts = tomllib.loads("\n" * (start + 1) + "\n".join(line[2:] for line in head))
    except tomllib.TOMLDecodeError as error:
        raise fault(path, start + 1, f"its facts are not valid TOML: {error}", "bank.no-toml") from None
    first = start + 1 + len(head)
    markers = [i for i in range(first, len(lines)) if MARKER.match(lines[i])]
    cells = [Cell(path, first, {}, lines[first : markers[0] if markers else None])]
    for marker, end in zip(markers, [*markers[1:], len(lines)]):
        marks = MARK.findall(lines[marker])
        if lines[marker] != " ".join(["# %%", *(f'{key}="{value}"' for key, value in marks)]):
            raise fault(path, marker + 1, """a marker looks like '# %% name' or '# %% id="shard"'""", "bank.odd-marker")
        cells.append(Cell(path, marker + 1, dict(marks), lines[marker + 1 : end]))
    name = lines[start].removeprefix("# %% ")
    return Block(name, path, start + 1, facts, tuple(cell for cell in cells if cell.marks or cell.source))
