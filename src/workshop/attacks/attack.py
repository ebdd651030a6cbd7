"""Read a folder of attacks: one text notebook each, in the form of the answer banks; see docs/attacks.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import jupytext

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.labs.build.text_notebook import FORMAT, MAGIC, MARKER
from coursekit.toml_files import MAY_BE_EMPTY
from workshop.block import read_block

Names = Annotated[tuple[str, ...], MAY_BE_EMPTY]
# The classes of the catalogue, and work that only looks hostile.
CLASSES = (
    *("overfitting", "redirection", "monkeypatching", "evil objects", "introspection", "forged results"),
    *("shadow modules", "notebook format", "archive tricks", "resource", "persistence", "exfiltration"),
    *("grader store", "scheduler abuse", "time cheats", "anti-replay", "hostile text", "right"),
)


@dataclass(frozen=True)
class AttackCell:
    """One cell of an attack."""

    kind: str  # "answer", "extra" or "hand-in"
    name: str  # id of the answer cell, or of the cell before an extra one; '' at the top and for "hand-in"
    source: str


@dataclass(frozen=True)
class Attack:
    """One attack."""

    name: str  # name of its file without its ending
    title: str  # one line that says what it tries
    lab: str
    kind: str  # its class, one of `CLASSES`
    fails: Names  # ids of the tests that must give no points; all others must give theirs
    flags: Names  # kinds of flags that the instructor must see, "one|other" for one of two; right work may raise none
    cells: tuple[AttackCell, ...]  # what is handed in; answers that are not among them are the solution's
    consequences: Names = ()  # ids of tests that may go either way

    @property
    def at_stake(self) -> tuple[str, ...]:
        """The tests whose points tell who was right: those that it must fail; of right work those of its answers."""
        if self.kind == "right":
            return tuple(f"{cell.name}-tests" for cell in self.cells if cell.kind == "answer")
        return self.fails


def load_attacks(folder: Path) -> tuple[Attack, ...]:
    """Read every attack of a folder, sorted by name.

    Raises:
        CourseKitError: no attack was found, or one is not in the right form.
    """
    paths = sorted(path for path in folder.glob("*.py") if not path.name.startswith(("test_", "conftest")))
    if not paths:
        raise CourseKitError(f"{folder} holds no attacks: write one .py file for each (see docs/attacks.md).")
    return tuple(load_attack(path) for path in paths)


def load_attack(path: Path) -> Attack:
    """Read one attack; a `CourseKitError` names file and fault."""
    lines = path.read_text(encoding="utf-8").splitlines()
    values, end = read_block(path, lines, "attack")
    kind = values.pop("class", "")
    if kind not in CLASSES:
        raise CourseKitError(f"{path}: {kind!r} is not a class; there are {', '.join(CLASSES)}.")
    cells = _read_cells(path, lines[end:])
    return toml_files.read(Attack, values, str(path), name=path.stem, kind=kind, cells=cells)


def _read_cells(path: Path, lines: Sequence[str]) -> tuple[AttackCell, ...]:
    cells = []
    for cell in jupytext.reads("\n".join(lines), fmt=FORMAT).cells:
        source = MAGIC.sub(r"\1\2", cell.source)
        if not source.strip():
            continue
        role, name, after = (cell.metadata.get(key) for key in ("role", "id", "after"))
        if role == "answer" and name:
            cells.append(AttackCell("answer", name, source))
        elif role == "hand-in":
            cells.append(AttackCell("hand-in", "", source))
        elif after is not None and role is None:
            cells.append(AttackCell("extra", after, source))
        else:
            form = '`# %% role="answer" id="…"`, `# %% after="…"` or `# %% role="hand-in"`'
            raise CourseKitError(f"{path}: every cell begins with {form}.")
    if not cells:
        raise CourseKitError(f"{path}: it holds no cell (a marker is a line like {MARKER.pattern!r}).")
    return tuple(cells)
